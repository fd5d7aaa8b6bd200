; Adds 1 to a binary number, its highest digit first. The first cell is marked (a for 0, b for 1), so that the head
; knows the left end of the tape; where the number was all ones it becomes 1 and as many zeros.
start: begin
accept: done
reject: stuck
blank: _
alphabet: 0 1 _ a b
missing: reject

begin   0 a R right
begin   1 b R right
begin   _ 1 S done     ; the empty word is 0

right   0 0 R right
right   1 1 R right
right   _ _ L carry

carry   1 0 L carry
carry   0 1 L home
carry   a 1 S done
carry   b 1 R extend

extend  0 0 R extend
extend  _ 0 S done

home    0 0 L home
home    1 1 L home
home    a 0 S done
home    b 1 S done
