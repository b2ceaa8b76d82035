import { Type } from 'typebox'
import { nameComponents, Nullable, Success, Timestamp } from '../http/http-schema.ts'
import { FEED_IDS } from './feed-catalogue.ts'

const FEED_STATES = ['off', 'waiting', 'in-use', 'expired'] as const
const FEED_PROBLEMS = ['shrunk', 'grown', 'malformed', 'unreachable', 'outdated'] as const

/** An entry of a public feed about an address. */
export const FeedListing = Type.Object({
  id: Type.String(),
  name: Type.String(),
  label: Type.String({ description: 'What the addresses of the feed have in common.' }),
  network: Type.String({ description: 'The entry that contains the address.' }),
  since: Timestamp,
  removalUrl: Nullable(Type.String({ description: 'Where the provider removes an address.' })),
})

export const PublicFeed = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    provider: Type.String(),
    label: Type.String(),
    description: Type.String(),
    homepage: Type.String(),
    terms: Type.String({ description: 'Licence or terms of use, in short.' }),
    termsUrl: Type.String(),
    intervalHours: Type.Integer({ description: 'Hours between two downloads.' }),
    maxAgeHours: Type.Integer({
      description: 'Hours without a new version after which the last one is no longer used.',
    }),
    enabled: Type.Boolean(),
    state: Type.Enum([...FEED_STATES], {
      description:
        '`waiting` until it was downloaded; `expired` when its last good version is too old.',
    }),
    networks: Type.Integer({ description: 'Addresses and networks of the version in use.' }),
    skipped: Type.Integer({ description: 'Private and reserved networks that were left out.' }),
    addresses: Type.Integer({ description: 'IPv4 addresses in the version in use.' }),
    changedAt: Nullable(Timestamp, { description: 'The time of the version in use.' }),
    checkedAt: Nullable(Timestamp),
    problem: Nullable(Type.Enum([...FEED_PROBLEMS]), {
      description: 'Why the latest version is not used.',
    }),
    problemText: Type.String(),
    problemAt: Nullable(Timestamp),
    heldNetworks: Nullable(Type.Integer(), {
      description: 'Size of a version that an administrator can accept.',
    }),
    overlaps: Type.Array(
      Type.Object({
        list: Type.String({ description: '`fleet`, `shared`, or the id of another feed.' }),
        networks: Type.Integer({ description: 'Networks of this feed that it contains, too.' }),
      }),
      { description: 'Lists without a common network are left out.' },
    ),
  },
  {
    examples: [
      {
        id: 'tor-exits',
        name: 'Tor exit nodes',
        provider: 'The Tor Project',
        label: 'Anonymity network',
        description: 'Addresses from which users of Tor reach the Internet.',
        homepage: 'https://check.torproject.org/',
        terms: 'Free for any use.',
        termsUrl: 'https://support.torproject.org/abuse/',
        intervalHours: 1,
        maxAgeHours: 48,
        enabled: true,
        state: 'in-use',
        networks: 1_214,
        skipped: 0,
        addresses: 1_214,
        changedAt: '2026-11-21T12:00:00.000Z',
        checkedAt: '2026-11-21T12:00:00.000Z',
        problem: null,
        problemText: '',
        problemAt: null,
        heldNetworks: null,
        overlaps: [{ list: 'shared', networks: 38 }],
      },
    ],
  },
)

export const PublicFeedList = Success(Type.Array(PublicFeed))

export const FeedParam = Type.Object({ id: Type.Enum(FEED_IDS) })

export const FeedChange = Type.Object(
  { enabled: Type.Boolean() },
  { examples: [{ enabled: true }], description: 'Disabling a feed deletes its networks.' },
)

nameComponents({ PublicFeed, FeedListing, PublicFeedChange: FeedChange })
