// Texts about watched networks.
import { removalUrlOf, type PublicFeed } from '../feed-catalogue.ts'

export const incidentOf = (networkId: string, list: string) => `network/${networkId}/${list}`

type Subject = {
  watched: { network: string; label: string }
  /** Undefined for the attack list. */
  feed: PublicFeed | undefined
  added: string[]
}

/** Entries that an alert names. */
const NAMED_ENTRIES = 5

export function foundAlert({ watched, feed, added }: Subject) {
  const { network, label } = watched
  const list = feed ? `the public feed ${feed.name}` : 'the attack list'
  const [first = ''] = added
  const what = added.length === 1 ? `${addressOf(first)} is` : `${added.length} entries are`
  const named = added.slice(0, NAMED_ENTRIES).map(addressOf).join(', ')
  const more = added.length > NAMED_ENTRIES ? `, and ${added.length - NAMED_ENTRIES} more` : ''
  return {
    title: `${network}: ${what} on ${list}`,
    text: `${label ? `${label}, ` : ''}${network}: ${named}${more}.`,
    nextStep: feed ? removalStep(feed, first) : 'Stop the attacks, then appeal on the linked page.',
  }
}

function removalStep(feed: PublicFeed, entry: string): string {
  const url = removalUrlOf(feed, addressOf(entry).split('/', 1)[0] ?? '')
  return url === null
    ? `${feed.provider} does not remove addresses on request.`
    : `Stop the attacks, then ask the provider for removal: ${url}`
}

export function clearedAlert({ watched: { network }, feed }: Subject) {
  return {
    title: `Resolved: ${network} is no longer on ${feed?.name ?? 'the attack list'}`,
    text: 'No address in it is on the list.',
    nextStep: '',
  }
}

/** A single address without its length. */
export function addressOf(entry: string): string {
  return entry.replace(/(?<=^[\d.]+)\/32$/, '')
}
