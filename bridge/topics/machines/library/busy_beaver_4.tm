; The four-state busy beaver: 107 steps, 13 ones, both the most there are.
1RB1LB_1LA0LC_1RZ1LD_1RD0RA
