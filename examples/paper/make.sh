#!/usr/bin/env bash
# The parts that ridge.tex inputs, then the paper: run it in a copy of this folder, with boundsmith and LaTeX installed.
set -euo pipefail
boundsmith latex ../ridge.py --part theorem --tier derived -o theorem.tex
boundsmith latex ../ridge.py --part proof -o proof.tex
boundsmith compare ../ridge.py --grid L=2,4,8,16 --quantity prediction --scope network \
  --columns L,printed,derived,measured,attacked,rounding -o table.tex --plot error.pdf --untitled
pdflatex -interaction=nonstopmode ridge.tex
pdflatex -interaction=nonstopmode ridge.tex
