; Accepts the words over 0 and 1 that read the same backwards. It erases the first symbol, then the last one if that is
; the same, and so on; the erased cells on the left keep the head on the tape.
start: first
accept: yes
reject: no
blank: _
alphabet: 0 1 _

first   0 _ R seek0
first   1 _ R seek1
first   _ _ S yes

seek0   0 0 R seek0
seek0   1 1 R seek0
seek0   _ _ L last0
seek1   0 0 R seek1
seek1   1 1 R seek1
seek1   _ _ L last1

last0   0 _ L back
last0   1 1 S no
last0   _ _ S yes      ; nothing was left between
last1   1 _ L back
last1   0 0 S no
last1   _ _ S yes

back    0 0 L back
back    1 1 L back
back    _ _ R first
