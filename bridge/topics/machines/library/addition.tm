; Adds two binary numbers, `101+11`. The sum takes the place of the input, with as many digits as that had symbols (zeros
; in front). Digits of the first number are used up from its right end and become +; those of the second are replaced from
; their right end by digits of the sum (a for 0, b for 1), which go on over the + once the second number is used up.
; The first cell is marked: A for 0, B for 1, X once it is used.
; yC, xC: on the way left with carry C, over the second and the first number; rS: on the way right with the sum S of
; carry and first digit; wS: where the digit of the sum goes. eC, fC: the same once the first number is used up.
start: begin
accept: done
reject: stuck
blank: _
alphabet: 0 1 + _ A B X a b
missing: reject

begin   0 A R number1
begin   1 B R number1
number1 0 0 R number1
number1 1 1 R number1
number1 + + R begin2
begin2  0 0 R number2
begin2  1 1 R number2
number2 0 0 R number2
number2 1 1 R number2
number2 _ _ L y0

y0      0 0 L y0
y0      1 1 L y0
y0      + + L x0
y1      0 0 L y1
y1      1 1 L y1
y1      + + L x1

x0      + + L x0
x0      0 + R r0
x0      1 + R r1
x0      A X R r0
x0      B X R r1
x0      X X R e0
x1      + + L x1
x1      0 + R r1
x1      1 + R r2
x1      A X R r1
x1      B X R r2
x1      X X R e1

r0      0 0 R r0
r0      1 1 R r0
r0      + + R r0
r0      a a L w0
r0      b b L w0
r0      _ _ L w0
r1      0 0 R r1
r1      1 1 R r1
r1      + + R r1
r1      a a L w1
r1      b b L w1
r1      _ _ L w1
r2      0 0 R r2
r2      1 1 R r2
r2      + + R r2
r2      a a L w2
r2      b b L w2
r2      _ _ L w2

w0      0 a L y0
w0      1 b L y0
w0      + a L x0
w1      0 b L y0
w1      1 a L y1
w1      + b L x0
w2      0 a L y1
w2      1 b L y1
w2      + a L x1

e0      0 0 R e0
e0      1 1 R e0
e0      + + R e0
e0      a a L f0
e0      b b L f0
e0      _ _ L f0
e1      0 0 R e1
e1      1 1 R e1
e1      + + R e1
e1      a a L f1
e1      b b L f1
e1      _ _ L f1

f0      0 a L y0
f0      1 b L y0
f0      + a L back
f1      0 b L y0
f1      1 a L y1
f1      + b L back

back    + + L back
back    X 0 R clean
clean   + 0 R clean
clean   a 0 R clean
clean   b 1 R clean
clean   _ _ S done
