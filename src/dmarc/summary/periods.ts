/** Periods that end today, by name; `all` begins with the first stored report. */
export const PERIODS = ['7d', '30d', '90d', '365d', 'all'] as const
