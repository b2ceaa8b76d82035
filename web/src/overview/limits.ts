/** Cards of domains, and of hosts, at most: full rows of two, three and four. */
export const MAX_CARDS = 12

/** Problems that are shown before a press on “Show more”. */
export const MAX_PROBLEMS = 5
