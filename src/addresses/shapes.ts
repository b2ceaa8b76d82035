import { Type, type Static } from 'typebox'
import { AddressReports } from '../abuse/shapes.ts'
import { PROCESS_STATUSES } from '../delisting/delistings.sql.ts'
import { Nullable, nameComponents, Timestamp, Uuid } from '../http/http-schema.ts'
import { HOST_STATUSES, HostListing } from '../monitoring/shapes.ts'

const Text = Type.String()
const Count = Type.Integer({ minimum: 0 })
const Day = Type.String({ format: 'date' })

export const AddressParams = Type.Object({
  ip: Type.String({ maxLength: 45, description: 'An IPv4 or IPv6 address.' }),
})

const Use = Type.Object({
  domainId: Uuid,
  domain: Text,
  source: Type.String({ description: 'The address, or one in the same /64.' }),
  reverseName: Nullable(Text, { description: 'Its reverse name, if that leads back to it.' }),
  messages: Count,
  passed: Count,
  dkim: Count,
  spf: Count,
  forwarded: Count,
  firstDay: Day,
  lastDay: Day,
})

const Host = Type.Object({
  id: Uuid,
  host: Text,
  label: Text,
  status: Type.Enum([...HOST_STATUSES]),
  lastCheckAt: Nullable(Timestamp),
  addresses: Type.Array(Text),
})

const Delisting = Type.Object({
  id: Uuid,
  status: Type.Enum([...PROCESS_STATUSES]),
  createdAt: Timestamp,
  completedAt: Nullable(Timestamp),
})

const Fleet = Type.Object({
  ban: Nullable(
    Type.Object({
      bannedAt: Nullable(Timestamp),
      expiresAt: Nullable(Timestamp, { description: 'Null while it is not banned.' }),
      bans: Count,
      reason: Text,
      seenAt: Timestamp,
    }),
    { description: 'What your fleet remembers of the address.' },
  ),
  reports: Type.Array(
    Type.Object({ server: Nullable(Text), service: Text, count: Count, at: Timestamp }),
    { description: 'The latest reports of your servers, newest first.' },
  ),
  allowed: Nullable(Type.Object({ network: Text, label: Text }), {
    description: 'The network of your allowlist that contains it.',
  }),
  server: Nullable(
    Type.Object({
      label: Nullable(Text),
      reportedAt: Nullable(Timestamp),
      followedAt: Nullable(Timestamp),
    }),
    { description: 'The server of yours that reports from this address.' },
  ),
})

const NEXT_STEPS = [
  'delist',
  'continue-delisting',
  'unban',
  'appeal',
  'decide-sender',
  'monitor',
] as const

/** All that the workspace knows of an address, from its own tables. */
export const AddressOverview = Type.Object({
  ip: Text,
  network: Type.String({ description: 'The address, or the /64 of an IPv6 address.' }),
  isYours: Type.Boolean({
    description: 'Whether it is a monitored host, a server of yours, or passes DMARC for a domain.',
  }),
  system: Nullable(Type.Object({ number: Type.Integer(), name: Text }), {
    description: 'The autonomous system that announces it.',
  }),
  abuseContact: Nullable(Type.Object({ network: Text, email: Nullable(Text) }), {
    description: 'The abuse contact of its network, if it was looked up lately.',
  }),
  sends: Nullable(Type.Array(Use), {
    description:
      'What it sent for your domains in the last 12 months, according to DMARC reports. Null without `dmarc:read`.',
  }),
  hosts: Nullable(Type.Array(Host), { description: 'Null without `monitoring:read`.' }),
  listings: Nullable(Type.Array(HostListing), {
    description:
      'Listings that monitoring has found, oldest first. Null without `monitoring:read`.',
  }),
  delistings: Nullable(Type.Array(Delisting), {
    description: 'The latest delistings. Null without `delisting:read`.',
  }),
  reports: Nullable(AddressReports, {
    description:
      'Attack reports of everybody. Null without `attacks:read`, and for an address that is not on the Internet.',
  }),
  fleet: Nullable(Fleet, { description: 'Null without `attacks:read`.' }),
  watchedNetworks: Nullable(Type.Array(Type.Object({ id: Uuid, network: Text, label: Text })), {
    description: 'Your watched networks that contain it. Null without `attacks:read`.',
  }),
  next: Type.Array(
    Type.Object({
      step: Type.Enum([...NEXT_STEPS]),
      id: Nullable(Uuid, { description: 'The delisting, or the DMARC domain.' }),
    }),
    { description: 'The steps to take next, the most urgent first.' },
  ),
})
export type AddressOverview = Static<typeof AddressOverview>

nameComponents({ AddressOverview })
