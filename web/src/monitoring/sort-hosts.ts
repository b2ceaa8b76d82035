import type { Host } from './api.ts'

/** From the worst to the best. */
export const STATUS_ORDER: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']

export function worstFirst(hosts: Host[]): Host[] {
  return hosts.toSorted(
    (one, other) => STATUS_ORDER.indexOf(one.status) - STATUS_ORDER.indexOf(other.status),
  )
}
