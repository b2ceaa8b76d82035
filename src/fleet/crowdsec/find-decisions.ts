import ipaddr from 'ipaddr.js'
import { Fault } from '../../errors.ts'
import { parseAddress } from '../../net/address.ts'
import { nameAt } from '../../protocols/networks/labelled-set.ts'
import { formatNetwork, parseNetwork } from '../../protocols/networks/network.ts'
import { indexOfNetwork, listOverlapping } from '../../protocols/networks/network-set.ts'
import { networkOf } from '../../protocols/networks/read-network.ts'
import { findFleet, type Fleet } from '../fleet.sql.ts'
import {
  feedDecision,
  filterOf,
  fleetDecision,
  isWanted,
  sharedDecision,
  type Decision,
  type FilterQuery,
} from './decisions.ts'
import { listBansIn, listPublishedIn } from './fleet-bouncers.sql.ts'
import type { StreamDeps } from './stream-part.ts'

export type DecisionQuery = FilterQuery & {
  ip?: string | undefined
  range?: string | undefined
  scope?: string | undefined
  value?: string | undefined
  type?: string | undefined
}

/** Networks of both families: a query without an address returns everything. */
const EVERYTHING = ['0.0.0.0/0', '::/0']

/** Decisions that are made and written together. */
const PART_DECISIONS = 1_000

/**
 * The decisions that apply to an address or network, as CrowdSec’s `/v1/decisions` has them, in
 * parts.
 * @throws Fault `invalid_request`, before the first part
 */
export async function* findDecisions(
  deps: Pick<StreamDeps, 'db' | 'clock' | 'feedSelections' | 'feedLists'>,
  workspaceId: string,
  query: DecisionQuery,
): AsyncGenerator<Decision[]> {
  const { db, clock } = deps
  const networks = networksOf(query)
  if (query.type !== undefined && query.type !== 'ban') return
  const filter = filterOf(query)
  const fleet = await findFleet(db, workspaceId)
  function* partsOf<Row>(rows: Row[], decisionOf: (row: Row) => Decision): Generator<Decision[]> {
    for (let at = 0; at < rows.length; at += PART_DECISIONS) {
      const decisions = rows.slice(at, at + PART_DECISIONS).map(decisionOf)
      const wanted = decisions.filter((decision) => isWanted(decision, filter))
      if (wanted.length > 0) yield wanted
    }
  }
  for (const network of networks) {
    const bans = await listBansIn(db, workspaceId, network)
    yield* partsOf(bans, (ban) => fleetDecision(ban, clock()))
    if (fleet?.servesShared) yield* partsOf(await listPublishedIn(db, network), sharedDecision)
    if (fleet) yield* findInFeeds(deps, fleet, network, partsOf)
  }
}

type PartsOf = <Row>(rows: Row[], decisionOf: (row: Row) => Decision) => Generator<Decision[]>

const MAX_FOUND = 100_000

/** Bits before the IPv4 address in an IPv4-mapped one (RFC 4291, 2.5.5.2). */
const MAPPED_PREFIX = 96

async function* findInFeeds(
  { feedSelections, feedLists }: Pick<StreamDeps, 'feedSelections' | 'feedLists'>,
  { workspaceId, feeds }: Fleet,
  text: string,
  partsOf: PartsOf,
): AsyncGenerator<Decision[]> {
  const selection = await feedSelections.current(workspaceId, feeds)
  const network = parseNetwork(text)
  if (!selection || !network) return
  const list = await feedLists.list(selection)
  yield* partsOf(listOverlapping(list.set, network, MAX_FOUND), (found) => {
    const index = indexOfNetwork(list.set[found.family], found)
    return feedDecision(formatNetwork(found), nameAt(list, found.family, index))
  })
}

/** None for a scope of which there are no decisions, such as user names. */
function networksOf({ ip, range, scope, value }: DecisionQuery): string[] {
  const text = ip ?? range ?? value
  const isNetwork = scope === undefined || ['ip', 'range'].includes(scope.toLowerCase())
  if (!isNetwork) return []
  if (text === undefined) return EVERYTHING
  const [address = '', bits, more] = text.split('/')
  const parsed = parseAddress(address)
  const most = parsed?.family === 4 ? 32 : 128
  const isValid = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
  if (!parsed || !isValid || more !== undefined)
    throw new Fault(
      'invalid_request',
      `unable to parse '${text.slice(0, 60)}': not an address or range`,
    )
  // A server that listens on IPv6 alone sees IPv4 clients as `::ffff:192.0.2.1`.
  const asked = ipaddr.process(parsed.address)
  const isMapped = parsed.family === 6 && asked.kind() === 'ipv4'
  const length = Number(bits ?? most) - (isMapped ? MAPPED_PREFIX : 0)
  if (length < 0) return []
  // IPv6 is listed by /64: within one, every address has the same decisions.
  return [networkOf(asked, Math.min(length, asked.kind() === 'ipv4' ? 32 : 64))]
}
