; Accepts the words over 0 and 1 with an even number of ones. A template for your own machine.
start: even
accept: yes
reject: no

even  0 0 R even
even  1 1 R odd
even  _ _ S yes
odd   0 0 R odd
odd   1 1 R even
odd   _ _ S no
