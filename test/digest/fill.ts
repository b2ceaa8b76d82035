import type { Kysely } from 'kysely'
import type { DB } from '../../src/store/tables.ts'

const DAY_MS = 86_400_000

/** Days as a shift from `now`: -3 is three days before it. */
const daysFrom = (now: string, days: number) => new Date(Date.parse(now) + days * DAY_MS)
const dayOf = (at: Date) => at.toISOString().slice(0, 10)

export type HostOptions = {
  status?: string
  listedCount?: number
  label?: string
  createdAt?: Date
}

/** Writes the rows that the modules write, for a digest at a time. */
export function createFiller(db: Kysely<DB>, workspaceId: string, now: string) {
  async function host(name: string, options: HostOptions = {}): Promise<string> {
    const { createdAt = daysFrom(now, -60), ...rest } = options
    const values = { workspaceId, host: name, status: 'clean', createdAt, ...rest }
    const row = await db
      .insertInto('monitoredHost')
      .values(values)
      .returning('id')
      .executeTakeFirstOrThrow()
    return row.id
  }

  const event = (
    hostId: string,
    values: {
      kind: string
      name: string
      fromState: string
      toState: string
      daysAgo: number
      ip?: string
      reason?: string
    },
  ) => {
    const { daysAgo, ip = null, reason = null, ...rest } = values
    const at = daysFrom(now, -daysAgo)
    return db
      .insertInto('monitoredEvent')
      .values({ hostId, at, ip, reason, ...rest })
      .execute()
  }

  const certificate = (
    hostId: string,
    { port = 443, state = 'valid', from = -30, to = 60 } = {},
  ) => {
    const detail = {
      validFrom: daysFrom(now, from).toISOString(),
      validTo: daysFrom(now, to).toISOString(),
      issuer: 'Let’s Encrypt',
      names: [],
      fingerprint256: 'AA',
      trustError: null,
    }
    return db
      .insertInto('monitoredFact')
      .values({
        hostId,
        kind: 'certificate',
        subject: String(port),
        state,
        detail: JSON.stringify(detail),
        since: daysFrom(now, -5),
      })
      .execute()
  }

  async function dmarcDomain(
    domain: string,
    values: { lastReportAt?: Date } = {},
  ): Promise<string> {
    const { lastReportAt = daysFrom(now, -0.5) } = values
    const row = await db
      .insertInto('dmarcDomain')
      .values({
        workspaceId,
        domain,
        mailbox: `m${domain.replaceAll('.', '')}${workspaceId.slice(-12)}`,
        challenge: 'c',
        verifiedAt: daysFrom(now, -90),
        verifiedBy: 'txt',
        lastReportAt,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return row.id
  }

  const counts = (messages: number, aligned: number) => ({
    messages,
    aligned,
    dkim: aligned,
    spf: aligned,
    forwarded: 0,
    quarantined: 0,
    rejected: 0,
  })

  /** Messages a day from `from` to `to` days ago. */
  async function reported(
    domainId: string,
    {
      from,
      to,
      messages,
      aligned,
    }: { from: number; to: number; messages: number; aligned: number },
  ): Promise<void> {
    for (let days = from; days >= to; days--)
      await db
        .insertInto('dmarcReporterDay')
        .values({
          domainId,
          day: dayOf(daysFrom(now, -days)),
          reporter: 'google.com',
          reports: 1,
          ...counts(messages, aligned),
        })
        .execute()
  }

  async function source(
    domainId: string,
    address: string,
    days: { ago: number; messages: number; aligned: number }[],
    name?: string,
  ): Promise<void> {
    for (const { ago, messages, aligned } of days) {
      const day = dayOf(daysFrom(now, -ago))
      const sums = counts(messages, aligned)
      await db
        .insertInto('dmarcSourceDay')
        .values({ domainId, day, source: address, ...sums })
        .execute()
      await db
        .insertInto('dmarcSourceMonth')
        .values({
          domainId,
          month: `${day.slice(0, 7)}-01`,
          source: address,
          firstDay: day,
          lastDay: day,
          ...sums,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
    if (name)
      await db
        .insertInto('dmarcAddress')
        .values({ address, reverseName: name, confirmed: true })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
  }

  async function watched(domain: string, state: string, sentence: string): Promise<string> {
    const row = await db
      .insertInto('watchedDomain')
      .values({ workspaceId, domain, state, sentence, checkedAt: daysFrom(now, -1) })
      .returning('id')
      .executeTakeFirstOrThrow()
    return row.id
  }

  const recordChange = (
    domainId: string,
    name: string,
    type: string,
    before: string[],
    after: string[],
  ) =>
    db
      .insertInto('domainEvent')
      .values({ domainId, at: daysFrom(now, -2), name, type, before, after })
      .execute()

  async function delisting(
    ip: string,
    options: { status?: string; needs?: string | null; names: string[]; completedDaysAgo?: number },
  ): Promise<void> {
    const { status = 'in-progress', needs = 'submit', names, completedDaysAgo } = options
    const { id } = await db
      .insertInto('delistingProcess')
      .values({
        workspaceId,
        ip,
        status,
        askedCount: 89,
        unknownCount: 0,
        notPursued: '[]',
        createdAt: daysFrom(now, -10),
        completedAt: completedDaysAgo === undefined ? null : daysFrom(now, -completedDaysAgo),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    for (const [rank, name] of names.entries())
      await db
        .insertInto('delistingStep')
        .values({
          processId: id,
          rank,
          zone: `${rank}.bl.test`,
          name,
          category: 'major',
          method: 'form',
          plan: '{}',
          status: status === 'completed' ? 'completed' : 'waiting',
          needs,
          confirmed: true,
          firstAnswer: '{}',
          lastAnswer: '{}',
        })
        .execute()
  }

  const migration = (
    user: string,
    options: {
      status?: string
      messages?: number
      errors?: number
      daysAgo?: number
      dryRun?: boolean
    } = {},
  ) => {
    const {
      status = 'completed',
      messages = 1_000,
      errors = 0,
      daysAgo = 2,
      dryRun = false,
    } = options
    return db
      .insertInto('migration')
      .values({
        workspaceId,
        status,
        source: JSON.stringify({ host: 'imap.old.test', user }),
        destination: JSON.stringify({ host: 'imap.new.test', user: user.replace('old', 'new') }),
        folders: ['INBOX'],
        options: JSON.stringify({ dryRun }),
        progress: JSON.stringify({ messagesDone: messages }),
        errorCount: errors,
        counted: true,
        completedAt: daysFrom(now, -daysAgo),
      })
      .execute()
  }

  const alert = (kind: string, title: string, { daysAgo = 1, path = '/alerts' } = {}) =>
    db
      .insertInto('alert')
      .values({
        workspaceId,
        kind,
        key: `${kind} ${title}`,
        title,
        text: title,
        nextStep: '',
        path,
        at: daysFrom(now, -daysAgo),
      })
      .execute()

  const incident = (
    kind: string,
    title: string,
    { path = '/alerts', severity = 'error', isAcknowledged = false, isResolved = false } = {},
  ) =>
    db
      .insertInto('alertIncident')
      .values({
        workspaceId,
        kind,
        key: title,
        severity,
        title,
        path,
        openedAt: daysFrom(now, -1),
        updatedAt: daysFrom(now, -1),
        acknowledgedAt: isAcknowledged ? daysFrom(now, -0.5) : null,
        resolvedAt: isResolved ? daysFrom(now, -0.5) : null,
      })
      .execute()

  async function attackReports(perDay: number): Promise<void> {
    const { id } = await db
      .insertInto('abuseToken')
      .values({
        workspaceId,
        hash: Buffer.from(`${workspaceId}${now}`),
        lastFour: 'abcd',
        label: 'servers',
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    for (let days = 14; days >= 1; days--)
      for (const [service, reports] of [
        ['ssh', perDay],
        ['smtp', Math.ceil(perDay / 4)],
      ] as const)
        await db
          .insertInto('abuseTokenCount')
          .values({
            tokenId: id,
            day: dayOf(daysFrom(now, -days)),
            service,
            reports: days > 7 ? Math.ceil(reports / 2) : reports,
          })
          .execute()
  }

  const apiToken = (accountId: string, label: string, inDays: number) =>
    db
      .insertInto('apiToken')
      .values({
        accountId,
        workspaceId,
        label,
        hash: Buffer.from(`${label}${workspaceId}`),
        lastFour: 'wxyz',
        expiresAt: daysFrom(now, inDays),
      })
      .execute()

  return {
    host,
    event,
    certificate,
    dmarcDomain,
    reported,
    source,
    watched,
    recordChange,
    delisting,
    migration,
    alert,
    incident,
    attackReports,
    apiToken,
  }
}

/** A busy week of a company. */
export async function fillBusyWeek(
  db: Kysely<DB>,
  member: { workspaceId: string; accountId: string },
  now: string,
): Promise<void> {
  const fill = createFiller(db, member.workspaceId, now)
  const mail = await fill.host('mail.example.com', {
    status: 'listed',
    listedCount: 2,
    label: 'main relay',
  })
  const web = await fill.host('www.example.com')
  const backup = await fill.host('mx2.example.net', { status: 'unknown' })
  const listed = { kind: 'blacklist', fromState: 'clean', toState: 'listed', ip: '8.8.4.4' }
  await fill.event(mail, {
    ...listed,
    name: 'Spamhaus ZEN',
    daysAgo: 2,
    reason: 'https://check.spamhaus.org/listed/?searchterm=8.8.4.4',
  })
  await fill.event(mail, { ...listed, name: 'SpamCop', daysAgo: 1.5 })
  await fill.event(web, {
    ...listed,
    name: 'UCEPROTECT-1',
    fromState: 'listed',
    toState: 'clean',
    ip: '8.8.8.8',
    daysAgo: 3,
  })
  await fill.certificate(mail, { port: 465, state: 'expired', from: -90, to: -1 })
  await fill.certificate(web, { from: -3, to: 87 })
  await fill.certificate(backup, { port: 25, from: -70, to: 19 })
  await fill.event(mail, {
    kind: 'certificate',
    name: 'Certificate on port 465',
    fromState: 'expiring-soon',
    toState: 'expired',
    reason: 'Issued by Let’s Encrypt, valid until 2026-11-23 (UTC).',
    daysAgo: 1,
  })
  await fill.event(web, {
    kind: 'dns',
    name: 'www.example.com A',
    fromState: '192.0.2.10',
    toState: '192.0.2.20',
    daysAgo: 4,
  })
  const watched = await fill.watched(
    'example.com',
    'bad',
    'example.com: SPF needs more than 10 lookups, so receivers ignore it.',
  )
  await fill.watched('example.net', 'good', 'example.net is set up well.')
  await fill.recordChange(
    watched,
    'example.com',
    'TXT',
    ['v=spf1 include:_spf.example.com -all'],
    ['v=spf1 include:_spf.example.com include:sendgrid.net -all'],
  )
  const com = await fill.dmarcDomain('example.com')
  await fill.reported(com, { from: 14, to: 8, messages: 6_800, aligned: 6_670 })
  await fill.reported(com, { from: 7, to: 1, messages: 7_100, aligned: 6_610 })
  await fill.source(
    com,
    '167.89.1.2',
    [{ ago: 3, messages: 1_240, aligned: 1_200 }],
    'o1.sendgrid.net',
  )
  await fill.source(
    com,
    '198.51.100.7',
    [
      { ago: 10, messages: 900, aligned: 900 },
      { ago: 2, messages: 840, aligned: 12 },
    ],
    'crm.example.org',
  )
  await fill.source(com, '203.0.113.66', [{ ago: 2, messages: 400, aligned: 0 }])
  const net = await fill.dmarcDomain('example.net')
  await fill.reported(net, { from: 14, to: 1, messages: 120, aligned: 120 })
  const shop = await fill.dmarcDomain('shop.example')
  await fill.reported(shop, { from: 14, to: 8, messages: 900, aligned: 640 })
  await fill.reported(shop, { from: 7, to: 1, messages: 950, aligned: 730 })
  const silent = await fill.dmarcDomain('old-brand.example', { lastReportAt: daysFrom(now, -6) })
  await fill.reported(silent, { from: 20, to: 6, messages: 40, aligned: 40 })
  await fill.delisting('8.8.4.4', { names: ['Spamhaus ZEN', 'SpamCop'] })
  await fill.delisting('8.8.8.8', {
    names: ['UCEPROTECT-1'],
    status: 'completed',
    needs: null,
    completedDaysAgo: 3,
  })
  await fill.migration('anna@old.test', { messages: 48_210 })
  await fill.migration('ben@old.test', { messages: 12_034, errors: 3 })
  await fill.migration('chris@old.test', { status: 'failed', messages: 310, errors: 1 })
  await fill.migration('trial@old.test', { dryRun: true })
  await fill.alert('blacklist.listed', 'mail.example.com (8.8.4.4) is listed on Spamhaus ZEN')
  await fill.alert(
    'blacklist.cleared',
    'Resolved: www.example.com (8.8.8.8) was removed from UCEPROTECT-1',
  )
  await fill.alert('dmarc.failures', 'More mail from example.com fails DMARC')
  // The certificate and the domain are problems; the listing has no alert yet.
  await fill.incident('domain.worse', 'example.com needs attention', {
    path: '/domains/example.com',
    severity: 'warning',
    isAcknowledged: true,
  })
  await fill.incident('certificate.expired', 'The certificate of mail.example.com expired', {
    path: `/monitoring/${mail}`,
    severity: 'critical',
  })
  await fill.incident('blacklist.listed', 'www.example.com was listed', {
    path: `/monitoring/${web}`,
    isResolved: true,
  })
  await fill.attackReports(180)
  await fill.apiToken(member.accountId, 'Grafana', 9)
}
