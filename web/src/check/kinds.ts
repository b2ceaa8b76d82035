import { blacklistKind } from './blacklist-panel.tsx'
import { dnsKind } from './dns-panel.tsx'
import type { CheckKind } from './kind.ts'
import { mailAuthKind } from './mail-auth-panel.tsx'
import type { Target } from './target.ts'
import { tlsKind } from './tls-panel.tsx'

/** What is asked about a target, in the order it is shown. */
const KINDS: Record<Target['kind'], CheckKind[]> = {
  address: [blacklistKind],
  domain: [mailAuthKind, tlsKind, dnsKind],
}

export function kindsOf({ kind }: Target): CheckKind[] {
  return KINDS[kind]
}

/** By its name in the API; undefined for one that this version does not know. */
export function kindNamed(name: string): CheckKind | undefined {
  return Object.values(KINDS)
    .flat()
    .find((kind) => kind.name === name)
}
