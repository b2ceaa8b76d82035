/** The whole size, of which a share is filled. */
export const FULL = { reports: 100_000_000, requests: 10_000_000, records: 50_000_000 }

/** What every share has in full: their lists are as long as at the whole size. */
export const WORKSPACES = 500
export const ENDPOINTS = 10_000
export const DOMAINS = 5_000
export const HOSTS = 20_000

/** The largest workspace is at the limits of the product. */
export const LARGEST = { endpoints: 100, requestsPerEndpoint: 1_000, domains: 1_000, hosts: 10_000 }

/** Records of the largest domain at the whole size; a smaller fill has at most half of its records there. */
const LARGEST_DOMAIN_RECORDS = 1_000_000

/** Days that reports of attacks, captured requests, and DMARC reports are spread over. */
export const ATTACK_DAYS = 30
export const CAPTURE_DAYS = 31
export const DMARC_DAYS = 90

export type Sizes = {
  share: number
  reports: number
  /** Addresses that the reports are about. */
  addresses: number
  requests: number
  records: number
  largestDomainRecords: number
}

export function sizesOf(share: number): Sizes {
  const records = Math.round(FULL.records * share)
  return {
    share,
    reports: Math.round(FULL.reports * share),
    addresses: Math.max(50_000, Math.round(2_000_000 * share)),
    requests: Math.round(FULL.requests * share),
    records,
    largestDomainRecords: Math.min(LARGEST_DOMAIN_RECORDS, records / 2),
  }
}

/** The first number of the id of a row, by table. */
export const IDS = {
  account: 1,
  workspace: 2,
  reportToken: 3,
  endpoint: 4,
  domain: 5,
  host: 6,
  watchedDomain: 7,
  incident: 8,
  channel: 9,
} as const

/** The same as `bench_id` in SQL. */
export function idOf(table: keyof typeof IDS, n: number): string {
  const [kind, row] = [IDS[table].toString(16), n.toString(16)]
  return `${kind.padStart(8, '0')}-0000-7000-8000-${row.padStart(12, '0')}`
}

/** SQL of the id of a row, and of the workspace of the n-th endpoint, domain or host. */
export const idSql = (table: keyof typeof IDS, n: string) => `bench_id(${IDS[table]}, ${n})`
export const workspaceSql = (n: string, ofLargest: number) =>
  idSql('workspace', `case when ${n} <= ${ofLargest} then 1 else 2 + ${n} % ${WORKSPACES - 1} end`)

export const CREATE_IDS = `
  create function bench_id(kind integer, n bigint) returns uuid language sql immutable parallel safe as $$
    select (lpad(to_hex(kind), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid $$`
