import { describe, expect, it } from 'vitest'
import { countProblems, findProblems, type ProblemData } from '../../src/problems/find-problems.ts'

const NONE = { rows: [], total: 0 }

const NOTHING: ProblemData = {
  domains: NONE,
  hosts: { rows: [], counts: { listed: 0, certificateProblems: 0 } },
  delistings: { rows: [], waiting: 0 },
  migrations: NONE,
  mailboxes: [],
  channels: [],
  unverified: NONE,
  reviews: null,
}

type Host = ProblemData['hosts']['rows'][number]
type Domain = ProblemData['domains']['rows'][number]
type Channel = ProblemData['channels'][number]

const host = (status: Host['status'], certificate: Host['certificate'] = null): Host => ({
  id: 'h',
  host: 'mail.example.com',
  status,
  listedCount: 2,
  listedIps: status === 'listed' ? ['45.9.8.7'] : [],
  certificate,
})
/** All that there are of a kind. */
const all = <T>(...rows: T[]) => ({ rows, total: rows.length })
const some = (...rows: Host[]) => ({ ...NOTHING.hosts, rows })
const broken = (domain: Partial<Domain>) =>
  ({ domain: 'example.com', state: 'bad', hosts: [], stages: null, ...domain }) as Domain
const delisting = (steps: number, ip = '192.0.2.1') => ({ id: 'c', ip, steps })
const open = (...rows: ReturnType<typeof delisting>[]) => ({
  rows,
  waiting: rows.filter(({ steps }) => steps > 0).length,
})
const channel = (status: Channel['status'], target = 'me@example.com') => ({
  id: target,
  status,
  target,
})

const problemsOf = (data: Partial<ProblemData>) => findProblems({ ...NOTHING, ...data })
const sentences = (data: Partial<ProblemData>) =>
  Object.values(problemsOf(data))
    .flat()
    .map(({ sentence }) => sentence)

describe('the problems of a workspace', () => {
  it('are empty where everything is clean or unknown', () => {
    const hosts = some(host('clean'), host('unknown'), host('pending'))
    expect(sentences({ hosts, delistings: open(delisting(0)) })).toEqual([])
  })
  it('include a listed host first', () => {
    expect(sentences({ delistings: open(delisting(2)), hosts: some(host('listed')) })).toEqual([
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
    const others = ['b', 'c', 'd', 'e'].map((id) => ({ ...wrong, id, host: `${id}.test` }))
    expect(problemsOf({ hosts: some(wrong, ...others) }).problems).toMatchObject([
      {
        sentence:
          'mail.example.com, b.test, c.test and 2 more show the certificate of another host.',
        action: 'View hosts',
        path: '/monitoring',
      },
    ])
  })
  it('leave a certificate to its domain, whose problem it is already', () => {
    const hosts = some(host('clean', { state: 'expired', daysRemaining: -1 }))
    const own = [{ id: 'h', host: 'mail.example.com', status: 'clean' as const }]
    const tls = broken({
      hosts: own,
      stages: [{ name: 'tls', state: 'bad' }],
      sentence: 'Expired.',
    })
    expect(sentences({ hosts, domains: all(tls) })).toEqual(['Expired.'])
  })
  it('are one for each listed address, with what it affects and its delisting', () => {
    const [one, other] = [host('listed'), { ...host('listed'), id: 'i', host: 'smtp.example.com' }]
    const hosts = [{ id: 'h', host: 'mail.example.com', status: 'listed' as const }]
    const data = { hosts: some(one, other), domains: all(broken({ hosts })) }
    const [problem, ...others] = problemsOf(data).problems
    expect(others).toEqual([])
    expect(problem).toMatchObject({
      sentence: '45.9.8.7 is on 2 blocklists (2 hosts, 1 domain).',
      path: '/delisting/new?ip=45.9.8.7',
    })
    expect(
      problemsOf({ ...data, delistings: open(delisting(1, '45.9.8.7')) }).problems,
    ).toMatchObject([{ path: '/delisting/c', action: 'Continue' }])
    expect(
      problemsOf({ ...data, delistings: open(delisting(0, '45.9.8.7')) }).problems,
    ).toMatchObject([{ path: '/monitoring/h', action: 'View listings' }])
  })
  it('count no work that is left of the set-up, and have one entry for it', () => {
    const found = problemsOf({ unverified: { rows: [{ id: 'd', domain: 'a.test' }], total: 500 } })
    expect(countProblems(found.problems)).toBe(0)
    expect(found.setup).toMatchObject([{ sentence: '500 domains aren’t verified.' }])
  })
  it('include hosts that are not read, as one entry of each kind', () => {
    const counts = { listed: 1_001, certificateProblems: 1 }
    const { problems } = problemsOf({ hosts: { rows: [host('listed')], counts } })
    expect(problems.map(({ sentence }) => sentence)).toEqual([
      'mail.example.com is on 2 blocklists.',
      '1,000 more hosts are listed.',
      '1 more host has a problem with a certificate.',
    ])
    expect(countProblems(problems)).toBe(1_002)
  })
  it('include what is not read of the other kinds, too', () => {
    const { problems } = problemsOf({
      domains: { rows: [broken({ sentence: 'No SPF.' })], total: 101 },
      migrations: { rows: [{ id: 'm', user: 'alice', errorCount: 3 }], total: 2 },
      delistings: { rows: [delisting(1), delisting(0, '192.0.2.2')], waiting: 3 },
    })
    expect(problems.map(({ sentence, count, path }) => [sentence, count, path])).toEqual([
      ['No SPF.', undefined, '/domains/example.com'],
      ['100 more domains have problems.', 100, '/domains'],
      ['Migration of alice failed with 3 errors.', undefined, '/migrations/m'],
      ['1 more migration failed.', 1, '/migrations'],
      ['Delisting 192.0.2.1: 1 step needs your action.', undefined, '/delisting/c'],
      ['2 more delistings need your action.', 2, '/delisting'],
    ])
    expect(countProblems(problems)).toBe(106)
  })
  it('include a broken domain, unless a listed host says the same', () => {
    const hosts = [{ id: 'h', host: 'mail.example.com', status: 'listed' as const }]
    const sentence = 'example.com has 1 problem: SPF.'
    const stages = (authentication: 'good' | 'bad') => [
      { name: 'authentication' as const, state: authentication },
      { name: 'reputation' as const, state: 'bad' as const },
    ]
    expect(sentences({ domains: all(broken({ sentence })) })).toEqual([sentence])
    const listed = { sentence, hosts }
    expect(sentences({ domains: all(broken({ ...listed, stages: stages('good') })) })).toEqual([])
    expect(sentences({ domains: all(broken({ ...listed, stages: stages('bad') })) })).toEqual([
      sentence,
    ])
  })
  it('include a failed migration, an unreadable mailbox, an unconfirmed channel and an unverified domain', () => {
    const mailbox = { username: 'reports', host: 'imap.example.com' }
    expect(
      sentences({
        migrations: all({ id: 'm', user: 'alice', errorCount: 3 }),
        mailboxes: [mailbox as ProblemData['mailboxes'][number]],
        channels: [channel('active', 'a'), channel('off', 'b'), channel('unconfirmed')],
        unverified: { rows: [{ id: 'd', domain: 'example.com' }], total: 1 },
      }),
    ).toEqual([
      'Migration of alice failed with 3 errors.',
      'Can’t read reports from mailbox reports on imap.example.com.',
      'Alert channel me@example.com isn’t confirmed: enter the code we sent there.',
      'Verify example.com: publish its DMARC record.',
    ])
  })
  it('include missing email only while no other channel works', () => {
    const mail = channel('undeliverable')
    expect(sentences({ channels: [mail] })).toEqual([
      'Alerts to me@example.com can’t be delivered: email isn’t configured.',
    ])
    expect(sentences({ channels: [mail, channel('active', 'https://chat.example/')] })).toEqual([])
  })
  it('include appeals, candidates and a held list for administrators', () => {
    expect(sentences({ reviews: { isOnHold: true, appeals: 1, candidates: 2 } })).toEqual([
      'The new attack blocklist is on hold: it differs too much from the last one.',
      '1 appeal to review.',
      '2 reported addresses to list or discard.',
    ])
    expect(sentences({ reviews: { isOnHold: false, appeals: 0, candidates: 0 } })).toEqual([])
  })
})
