; The three-state machine that runs longest before it halts: 21 steps, 5 ones. (6 ones is another machine, of 14 steps.)
1RB1RZ_1LB0RC_1LC1LA
