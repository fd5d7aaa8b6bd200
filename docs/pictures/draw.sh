#!/usr/bin/env bash
# The pictures of the README, drawn again by `make pictures`. The page of LaTeX needs pdflatex and Ghostscript.
set -euo pipefail
cd "$(dirname "$0")"
theorem=../../examples/own_theorem.py
boundsmith compare $theorem --grid N=1,2,3,4,5,6 --scope network --plot error.svg --untitled
boundsmith latex $theorem --standalone -o theorem.tex
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
pdflatex -interaction=nonstopmode -output-directory "$work" theorem.tex
gs -q -dBATCH -dNOPAUSE -sDEVICE=pnggray -r110 -dTextAlphaBits=4 -sOutputFile="$work/page.png" "$work/theorem.pdf"
python - "$work/page.png" theorem.png <<'END'
import sys
from PIL import Image, ImageOps

page = Image.open(sys.argv[1])
left, top, right, bottom = ImageOps.invert(page.crop((0, 0, page.width, page.height - 160))).getbbox()  # less the number
page.crop((left - 24, top - 24, right + 24, bottom + 24)).save(sys.argv[2], optimize=True)
END
