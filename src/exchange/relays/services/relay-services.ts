import { abuseIpdb } from './abuseipdb.ts'
import { blocklistDe } from './blocklist-de.ts'
import { dshield } from './dshield.ts'
import type { RelayService, RelayServiceId } from './relay-service.ts'

const BY_ID: Record<RelayServiceId, RelayService> = {
  abuseipdb: abuseIpdb,
  'blocklist-de': blocklistDe,
  dshield,
}

export const relayServices = Object.values(BY_ID)

export function relayServiceOf(id: RelayServiceId): RelayService {
  return BY_ID[id]
}
