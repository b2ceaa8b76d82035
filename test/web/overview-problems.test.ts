import { describe, expect, it } from 'vitest'
import {
  countProblems,
  findProblems,
  NO_HOSTS,
  findInProgress,
  problemsTitle,
  type ProblemData,
} from '../../web/src/overview/problems.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const NOTHING: ProblemData = {
  watched: { domains: [], total: 0 },
  hosts: NO_HOSTS,
  cases: [],
  migrations: [],
  domains: [],
  mailboxes: [],
  channels: [],
  appeals: [],
  hold: null,
  candidates: 0,
}

type Host = ProblemData['hosts']['rows'][number]
type Case = ProblemData['cases'][number]
type Domain = ProblemData['domains'][number]
type Mailbox = ProblemData['mailboxes'][number]
type Channel = ProblemData['channels'][number]
type Listed = ProblemData['migrations'][number]

const host = (status: Host['status'], certificate: Host['certificate'] = null) =>
  ({
    id: 'h',
    host: 'mail.example.com',
    status,
    listedCount: 2,
    listedIps: status === 'listed' ? ['45.9.8.7'] : [],
    certificate,
  }) as Host
const some = (...rows: Host[]) => ({ ...NO_HOSTS, rows })
type Summary = ProblemData['watched']['domains'][number]
const watched = (...domains: Partial<Summary>[]) => ({
  domains: domains.map(
    (domain) => ({ domain: 'example.com', hosts: [], stages: null, ...domain }) as Summary,
  ),
  total: domains.length,
})
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
  ({
    id: 'c',
    ip: '192.0.2.1',
    status: 'in-progress',
    steps: needs.map((each) => ({ needs: each })),
  }) as Case

const sentences = (things: Partial<ProblemData>) =>
  Object.values(findProblems({ ...NOTHING, ...things }, NOW))
    .flat()
    .map(({ sentence }) => sentence)

describe('problems on the overview', () => {
  it('are empty where everything is clean or unknown', () => {
    const things = {
      hosts: some(host('clean'), host('unknown'), host('pending')),
      cases: [delisting(null)],
    }
    expect(sentences(things)).toEqual([])
  })
  it('include a listed host first', () => {
    expect(
      sentences({ cases: [delisting('submit', 'send')], hosts: some(host('listed')) }),
    ).toEqual([
      'mail.example.com is on 2 blocklists.',
      'Delisting 192.0.2.1: 2 steps need your action.',
    ])
  })
  it('include certificates with a problem, and how long others are valid', () => {
    const hosts = some(
      host('clean', { state: 'valid', daysRemaining: 60 }),
      host('clean', { state: 'expiring', daysRemaining: 12 }),
      host('clean', { state: 'wrong-host', daysRemaining: 60 }),
    )
    expect(sentences({ hosts })).toEqual([
      'mail.example.com shows the certificate of another host.',
      'The certificate of mail.example.com expires in 12 days.',
    ])
    const wrong = host('clean', { state: 'wrong-host', daysRemaining: 60 })
    const { problems } = findProblems({ ...NOTHING, hosts: some(wrong, { ...wrong, id: 'i' }) })
    expect(problems).toMatchObject([{ action: 'View hosts', link: { to: '/monitoring' } }])
  })
  it('are one for each listed address, with what it affects and its delisting', () => {
    const [one, other] = [host('listed'), { ...host('listed'), id: 'i', host: 'smtp.example.com' }]
    const hosts = [{ id: 'h', host: 'mail.example.com', status: 'listed' as const }]
    const data = { ...NOTHING, hosts: some(one, other), watched: watched({ state: 'bad', hosts }) }
    const [problem, ...others] = findProblems(data).problems
    expect(others).toEqual([])
    expect(problem).toMatchObject({
      sentence: '45.9.8.7 is on 2 blocklists (2 hosts, 1 domain).',
      link: { to: '/delisting/new', search: { ip: '45.9.8.7' } },
    })
    const waiting = { ...delisting('submit'), ip: '45.9.8.7' }
    expect(findProblems({ ...data, cases: [waiting] }).problems).toMatchObject([
      { link: { to: '/delisting/$id', params: { id: 'c' } } },
    ])
  })
  it('count no work that is left of the set-up, and have one line for it', () => {
    const domains = Array.from({ length: 500 }, (_, at) => ({ id: `${at}`, verified: false }))
    const found = findProblems({ ...NOTHING, domains: domains as Domain[] })
    expect(countProblems(found.problems)).toBe(0)
    expect(found.setup).toMatchObject([{ sentence: '500 domains aren’t verified.' }])
  })
  it('include hosts that are not loaded, as one problem of each kind', () => {
    const counts = { ...NO_HOSTS.counts, listed: 1_001, certificateProblems: 1 }
    const { problems } = findProblems({ ...NOTHING, hosts: { rows: [host('listed')], counts } })
    expect(problems.map(({ sentence }) => sentence)).toEqual([
      'mail.example.com is on 2 blocklists.',
      '1,000 more hosts are listed.',
      '1 more host has a problem with a certificate.',
    ])
    expect(problemsTitle(problems)).toBe('1,002 problems need your attention')
  })
  it('include a broken domain, unless a listed host says the same', () => {
    const hosts = [{ id: 'h', host: 'mail.example.com', status: 'listed' as const }]
    const sentence = 'example.com has 1 problem: SPF.'
    const stages = (authentication: 'good' | 'bad') => [
      { name: 'authentication' as const, state: authentication },
      { name: 'reputation' as const, state: 'bad' as const },
    ]
    expect(sentences({ watched: watched({ state: 'bad', sentence }) })).toEqual([sentence])
    expect(sentences({ watched: watched({ state: 'warning', sentence }) })).toEqual([])
    const listed = { state: 'bad' as const, sentence, hosts }
    expect(sentences({ watched: watched({ ...listed, stages: stages('good') }) })).toEqual([])
    expect(sentences({ watched: watched({ ...listed, stages: stages('bad') }) })).toEqual([
      sentence,
    ])
  })
  it('include a failed migration for two weeks, but no dry run', () => {
    const failed = migration({ status: 'failed' })
    expect(sentences({ migrations: [failed] })).toEqual([
      'Migration of alice failed with 3 errors.',
    ])
    const others = [
      migration({ status: 'completed' }),
      migration({ status: 'failed', dryRun: true }),
      migration({ status: 'failed', createdAt: '2026-11-01T12:00:00Z' }),
    ]
    expect(sentences({ migrations: others })).toEqual([])
  })
  it('include an unverified domain, an unreadable mailbox and an unconfirmed alert channel', () => {
    const domains = [true, false].map((verified) => ({ domain: 'example.com', verified }) as Domain)
    const mailbox = {
      user: 'reports',
      host: 'imap.example.com',
      failingSince: '2026-11-20T12:00:00Z',
    } as Mailbox
    const channel = { address: 'me@example.com', url: null }
    const channels = (['active', 'off', 'unconfirmed'] as const).map(
      (status) => ({ ...channel, status }) as Channel,
    )
    expect(sentences({ domains, mailboxes: [mailbox], channels })).toEqual([
      'Can’t read reports from mailbox reports on imap.example.com.',
      'Alert channel me@example.com isn’t confirmed: enter the code we sent there.',
      'Verify example.com: publish its DMARC record.',
    ])
  })
  it('include missing email only while no other channel works', () => {
    const mail = { address: 'me@example.com', url: null, status: 'undeliverable' } as Channel
    const hook = { address: null, url: 'https://chat.example/', status: 'active' } as Channel
    expect(sentences({ channels: [mail] })).toEqual([
      'Alerts to me@example.com can’t be delivered: email isn’t configured.',
    ])
    expect(sentences({ channels: [mail, hook] })).toEqual([])
  })
  it('include appeals and a held list for administrators', () => {
    const appeals = [{ status: 'open' }, { status: 'upheld' }] as ProblemData['appeals']
    const hold = { approved: false } as ProblemData['hold']
    expect(sentences({ appeals, hold, candidates: 2 })).toEqual([
      'The new attack blocklist is on hold: it differs too much from the last one.',
      '1 appeal to review.',
      '2 reported addresses to list or discard.',
    ])
  })
  it('are counted in the title', () => {
    const { problems: need } = findProblems({ ...NOTHING, hosts: some(host('listed')) })
    expect([problemsTitle([]), problemsTitle(need), problemsTitle([...need, ...need])]).toEqual([
      'No problems',
      '1 problem needs your attention',
      '2 problems need your attention',
    ])
  })
})

it('lists running migrations and delistings without open steps as in progress', () => {
  const [running, done] = [migration({ status: 'running' }), migration({ status: 'completed' })]
  const [goesOn, waits] = [delisting(null), delisting('confirm')]
  expect(findInProgress({ migrations: [running, done], cases: [goesOn, waits] })).toEqual({
    migrations: [running],
    cases: [goesOn],
  })
})
