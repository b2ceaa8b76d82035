import type { Host } from './api.ts'

/** From the worst to the best. */
export const STATUS_ORDER: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']

/** Listed hosts first, then those whose certificate has a problem. */
export function worstFirst(hosts: Host[]): Host[] {
  return hosts.toSorted((one, other) => rank(one) - rank(other))
}

function rank({ status, certificate }: Host): number {
  const hasProblem = certificate !== null && certificate.state !== 'valid'
  return status !== 'listed' && hasProblem ? 0.5 : STATUS_ORDER.indexOf(status)
}
