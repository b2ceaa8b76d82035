import { blacklistKind } from './blacklist-kind.tsx'
import { dnsKind } from './dns-kind.tsx'
import type { CheckKind } from './check-kind.ts'
import { mailAuthKind } from './mail-auth-kind.tsx'
import type { CheckTarget } from '../guess-target.ts'
import { tlsKind } from './tls-kind.tsx'

/** The checks of a target, in the order of their panels: the slowest comes last. */
const KINDS: Record<CheckTarget['kind'], CheckKind[]> = {
  address: [blacklistKind],
  domain: [mailAuthKind, dnsKind, tlsKind],
}

/** At a port, only its certificate can be checked. */
export function checksFor({ kind, port }: CheckTarget): CheckKind[] {
  return port === undefined ? KINDS[kind] : [tlsKind]
}

/** By its name in the API; undefined for one that this version does not know. */
export function findCheckKind(name: string): CheckKind | undefined {
  return Object.values(KINDS)
    .flat()
    .find((kind) => kind.name === name)
}
