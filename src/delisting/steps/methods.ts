/**
 * How an address is removed from a blocklist: automatically after a time, by an email of the
 * service, by a form that a person submits, or only by the provider that owns the network.
 */
export const METHODS = ['automatic', 'email', 'form', 'provider'] as const
export type Method = (typeof METHODS)[number]
