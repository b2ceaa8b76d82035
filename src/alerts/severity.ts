/** How urgent an alert is, from the most to the least urgent. */
export const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/**
 * What an alert says about its incident: it begins, changes or ends. `once` is an event without an
 * end.
 */
export const PHASES = ['open', 'update', 'resolved', 'once'] as const
export type Phase = (typeof PHASES)[number]
