import { KNOWN_ORIGIN, type Evidence, type TraitsOf } from './score.ts'

/** What one peer reports about an address at one service. Times are milliseconds since 1970. */
export type PeerSighting = {
  service: string
  /** Networks that the peer names, which it could invent. */
  networks: number
  /** The last report, which is not later than its arrival. */
  seenAt: number
  /** When the first of it arrived here. */
  receivedAt: number
}

const PEER_NETWORK = 'peer:'
/** Services of a peer that count for an address: a network counts with its best and three more. */
const MAX_SERVICES = 4
/** Networks that a peer can name with an effect: the events of a newcomer that count. */
const MAX_NETWORKS = 32

/** The name of a peer among the reporting networks of an address. */
export const peerNetwork = (peerId: string) => `${PEER_NETWORK}${peerId}`

/** The peer that evidence came from; null for evidence of our own reporters. */
export function peerOf({ network }: Pick<Evidence, 'network'>): string | null {
  return network.startsWith(PEER_NETWORK) ? network.slice(PEER_NETWORK.length) : null
}

/** Counts the networks that reported here, without peers. */
export function countReporters(evidence: readonly Evidence[]): number {
  return new Set(evidence.filter((e) => peerOf(e) === null).map(({ network }) => network)).size
}

/**
 * Replaces the evidence of one peer. All of it is the evidence of one newcomer network: it can
 * never be established, is one origin, and names at most four services.
 * @param sightings all that the peer reports about the address now; empty to remove it
 */
export function withPeerEvidence(
  evidence: readonly Evidence[],
  peerId: string,
  sightings: readonly PeerSighting[],
  traitsOf: TraitsOf,
): Evidence[] {
  const network = peerNetwork(peerId)
  const severityOf = ({ service }: PeerSighting) => traitsOf(service).severity
  const counted = sightings
    .toSorted((a, b) => severityOf(b) - severityOf(a) || b.networks - a.networks)
    .slice(0, MAX_SERVICES)
  const others = evidence.filter((entry) => entry.network !== network)
  return [...others, ...counted.map((sighting) => entryOf(network, sighting))]
}

function entryOf(network: string, sighting: PeerSighting): Evidence {
  const { service, networks, seenAt, receivedAt } = sighting
  return {
    network,
    origin: `${KNOWN_ORIGIN}${network}`,
    service,
    standing: 'new',
    base: 0,
    more: Math.min(networks, MAX_NETWORKS),
    at: seenAt,
    // When it arrived: a claimed past proves no duration.
    first: receivedAt,
    countedAt: 0,
    reports: 0,
    events: networks,
    port: null,
  }
}
