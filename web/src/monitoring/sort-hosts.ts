import type { Host } from './api.ts'

const ORDER: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']

export function worstFirst(hosts: Host[]): Host[] {
  return hosts.toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status))
}
