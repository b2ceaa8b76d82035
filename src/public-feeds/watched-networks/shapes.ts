import { Type } from 'typebox'
import {
  MAX_LENGTH,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Success,
  Timestamp,
  Uuid,
} from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'

const MOMENT = '2026-11-21T12:00:00.000Z'
const ID = '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11'

const network = {
  id: Uuid,
  network: Type.String(),
  label: Type.String(),
  createdAt: Timestamp,
  checkedAt: Nullable(Timestamp),
}

const example = { id: ID, network: '8.8.4.0/24', label: 'The servers', createdAt: MOMENT, checkedAt: MOMENT } // prettier-ignore

export const WatchedNetwork = Type.Object(network, { examples: [example] })

export const WatchedNetworkList = Success(
  Type.Array(
    Type.Object(
      {
        ...network,
        open: Type.Integer({ description: 'Entries of lists in it now.' }),
      },
      { examples: [{ ...example, open: 1 }] },
    ),
  ),
)

export const NewWatchedNetwork = Type.Object(
  {
    cidr: Type.String({
      maxLength: MAX_LENGTH.address,
      description: 'An address or a network, up to an IPv4 /16 or an IPv6 /32.',
    }),
    label: Type.String({ maxLength: 200, pattern: SHOWN_NAME, default: '' }),
  },
  { examples: [{ cidr: '8.8.4.0/24', label: 'The servers' }] },
)

export const WatchedFindings = Success(
  Type.Object({
    network: WatchedNetwork,
    findings: Type.Array(
      Type.Object({
        id: Uuid,
        list: Type.String({ description: '`shared` for the attack list, or the id of a feed.' }),
        name: Nullable(Type.String(), { description: 'The name of the feed.' }),
        entry: Type.String({ description: 'The address or network on the list.' }),
        foundAt: Timestamp,
        resolvedAt: Nullable(Timestamp),
        removalUrl: Nullable(Type.String(), {
          description: 'Where the provider of a feed removes it. For the attack list, appeal.',
        }),
      }),
    ),
    pagination: Pagination,
  }),
)

export const WatchedParam = Type.Object({ id: Uuid })
export const FindingQuery = PageQuery

nameComponents({ WatchedNetwork, NewWatchedNetwork })
