import { describe, expect, it } from 'vitest'
import { findIssues, findInProgress, issuesTitle, type OverviewData } from '../../web/src/overview/issues.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const NOTHING: OverviewData = {
  hosts: [],
  cases: [],
  migrations: [],
  domains: [],
  mailboxes: [],
  channels: [],
  appeals: [],
  hold: null,
  candidates: 0,
}

type Host = OverviewData['hosts'][number]
type Case = OverviewData['cases'][number]
type Domain = OverviewData['domains'][number]
type Mailbox = OverviewData['mailboxes'][number]
type Channel = OverviewData['channels'][number]
type Listed = OverviewData['migrations'][number]

const host = (status: Host['status']) => ({ id: 'h', host: 'mail.example.com', status, listedCount: 2 }) as Host
const migration = (more: Partial<Listed>) =>
  ({
    migrationId: 'm',
    srcUser: 'alice',
    dryRun: false,
    errorCount: 3,
    createdAt: '2026-11-20T12:00:00Z',
    ...more,
  }) as Listed
const delisting = (...needs: (string | null)[]) =>
  ({ id: 'c', ip: '192.0.2.1', status: 'in-progress', steps: needs.map((each) => ({ needs: each })) }) as Case

const sentences = (things: Partial<OverviewData>) =>
  findIssues({ ...NOTHING, ...things }, NOW).map(({ sentence }) => sentence)

describe('what needs a person', () => {
  it('is nothing where all is well or unknown', () => {
    const things = { hosts: [host('clean'), host('unknown'), host('pending')], cases: [delisting(null)] }
    expect(sentences(things)).toEqual([])
  })
  it('is a host that is listed, before all else', () => {
    expect(sentences({ cases: [delisting('submit', 'send')], hosts: [host('listed')] })).toEqual([
      'mail.example.com is listed on 2 blacklists.',
      '192.0.2.1 is to leave the blacklists: 2 steps wait for you.',
    ])
  })
  it('is a migration that failed, for two weeks, and no dry run', () => {
    const failed = migration({ status: 'failed' })
    expect(sentences({ migrations: [failed] })).toEqual(['The migration of alice ended with 3 errors.'])
    const others = [
      migration({ status: 'completed' }),
      migration({ status: 'failed', dryRun: true }),
      migration({ status: 'failed', createdAt: '2026-11-01T12:00:00Z' }),
    ]
    expect(sentences({ migrations: others })).toEqual([])
  })
  it('is a domain without its record, a mailbox that cannot be read, and an alert that reaches nobody', () => {
    const domains = [true, false].map((verified) => ({ domain: 'example.com', verified }) as Domain)
    const mailbox = { user: 'reports', host: 'imap.example.com', failingSince: '2026-11-20T12:00:00Z' } as Mailbox
    const channel = { address: 'me@example.com', url: null }
    const channels = (['active', 'off', 'unconfirmed'] as const).map((status) => ({ ...channel, status }) as Channel)
    expect(sentences({ domains, mailboxes: [mailbox], channels })).toEqual([
      'The mailbox reports on imap.example.com cannot be read for reports.',
      'Alerts to me@example.com wait for the code that was mailed there.',
      'example.com is not verified yet: its record is to be published.',
    ])
  })
  it('is that no mail goes out, unless the person is told elsewhere', () => {
    const mail = { address: 'me@example.com', url: null, status: 'undeliverable' } as Channel
    const hook = { address: null, url: 'https://chat.example/', status: 'active' } as Channel
    expect(sentences({ channels: [mail] })).toEqual([
      'Alerts to me@example.com reach nobody, because no mail goes out.',
    ])
    expect(sentences({ channels: [mail, hook] })).toEqual([])
  })
  it('is for an administrator an appeal to decide, and a list that is held back', () => {
    const appeals = [{ status: 'open' }, { status: 'upheld' }] as OverviewData['appeals']
    const hold = { approved: false } as OverviewData['hold']
    expect(sentences({ appeals, hold, candidates: 2 })).toEqual([
      'A new list of attackers is held back: it differs too much from the last.',
      '1 appeal to decide.',
      '2 reported addresses to list or discard.',
    ])
  })
  it('is said in a sentence', () => {
    const need = findIssues({ ...NOTHING, hosts: [host('listed')] })
    expect([issuesTitle([]), issuesTitle(need), issuesTitle([...need, ...need])]).toEqual([
      'Nothing needs you',
      '1 thing needs you',
      '2 things need you',
    ])
  })
})

it('counts as under way what goes on by itself', () => {
  const [running, done] = [migration({ status: 'running' }), migration({ status: 'completed' })]
  const [goesOn, waits] = [delisting(null), delisting('confirm')]
  expect(findInProgress({ migrations: [running, done], cases: [goesOn, waits] })).toEqual({
    migrations: [running],
    cases: [goesOn],
  })
})
