import type { HostCertificate, HostChange } from '../../monitoring/monitoring-digest.sql.ts'
import type { Bounded } from '../../store/bounded.ts'
import { MAX_ROWS } from '../limits.ts'
import {
  alerts as alertTexts,
  attacks as attackTexts,
  certificates as certificateTexts,
  expiring as expiringTexts,
  listings as listingTexts,
  migrations as migrationTexts,
  records as recordTexts,
  webhooks as webhookTexts,
} from '../messages.ts'
import type { Item, Section } from './digest-document.ts'
import type { DigestFacts } from './facts.ts'
import type { DigestLinks } from './links.ts'
import { oneLine } from '../../http/shown-name.ts'
import { dayText } from './fact-text.ts'

/** Rows of several lists as one section: the first 50, and how many are left out. */
export function sectionOf(
  title: string,
  url: string,
  lists: { items: Item[]; total: number }[],
  lead?: string,
): Section | null {
  const items = lists.flatMap((list) => list.items).slice(0, MAX_ROWS)
  if (items.length === 0) return null
  const left = lists.reduce((sum, list) => sum + list.total, 0) - items.length
  return {
    title,
    ...(lead !== undefined && { lead }),
    items,
    more: left,
    url,
  }
}

export function rowsOf<T>({ rows, total }: Bounded<T>, toItem: (row: T) => Item) {
  return { items: rows.map(toItem), total }
}

/** `mail.example.com, port 443` */
export const placeOf = ({ host, port }: Pick<HostCertificate, 'host' | 'port'>) =>
  `${host}, port ${port}`

export function listingSection({ changes }: DigestFacts, links: DigestLinks): Section | null {
  const listing = ({ hostId, host, ip, name, toState, reason }: HostChange): Item => {
    const address = ip === null || ip === host ? host : `${host} (${ip})`
    const url = links.host(hostId)
    return toState === 'listed'
      ? {
          tone: 'bad',
          label: listingTexts.added,
          title: oneLine(listingTexts.addedTitle(address, name)),
          ...(reason && { detail: oneLine(reason) }),
          url,
        }
      : {
          tone: 'good',
          label: listingTexts.removed,
          title: oneLine(listingTexts.removedTitle(address, name)),
          url,
        }
  }
  return sectionOf(listingTexts.title, links.page('/monitoring'), [
    rowsOf(changes.listings, listing),
    rowsOf(changes.delistings, ({ id, ip, status, steps, removed }) =>
      status === 'completed'
        ? {
            tone: 'good',
            label: listingTexts.delisted,
            title: listingTexts.delistedTitle(ip),
            url: links.delisting(id),
          }
        : {
            tone: 'warning',
            label: listingTexts.failed,
            title: listingTexts.failedTitle(ip, steps - removed),
            url: links.delisting(id),
          },
    ),
  ])
}

export function certificateSection(
  { changes, settings: { timeZone } }: DigestFacts,
  links: DigestLinks,
): Section | null {
  return sectionOf(certificateTexts.title, links.page('/monitoring'), [
    rowsOf(changes.certificates, ({ hostId, host, name, toState, reason }) => {
      const place = `${host}, ${/port \d+/.exec(name)?.[0] ?? name}`
      const [tone, label, title] = certificateTexts.states[toState] ?? [
        'warning',
        certificateTexts.changed,
        (text: string) => text,
      ]
      const detail = reason ? { detail: oneLine(reason) } : {}
      return { tone, label, title: oneLine(title(place)), ...detail, url: links.host(hostId) }
    }),
    rowsOf(changes.renewed, (renewed) => ({
      tone: 'good',
      label: certificateTexts.renewed,
      title: oneLine(certificateTexts.renewedTitle(placeOf(renewed))),
      detail: certificateTexts.validUntil(dayText(new Date(renewed.validTo), timeZone)),
      url: links.host(renewed.hostId),
    })),
  ])
}

export function recordSection({ changes }: DigestFacts, links: DigestLinks): Section | null {
  const item = (record: string, before: string, after: string, url: string): Item => ({
    tone: 'warning',
    label: recordTexts.label,
    title: oneLine(
      before === ''
        ? recordTexts.added(record)
        : after === ''
          ? recordTexts.removed(record)
          : recordTexts.changed(record),
    ),
    detail:
      before !== '' && after !== ''
        ? recordTexts.detail(oneLine(before, 300), oneLine(after, 300))
        : oneLine(before || after, 300),
    url,
  })
  return sectionOf(recordTexts.title, links.page('/home'), [
    rowsOf(changes.records, ({ hostId, name, fromState, toState }) =>
      item(name, fromState, toState, links.host(hostId)),
    ),
    rowsOf(changes.domainRecords, ({ domain, name, type, before, after }) =>
      item(`${name} ${type}`, before.join(', '), after.join(', '), links.domain(domain)),
    ),
  ])
}

export function migrationSection({ changes }: DigestFacts, links: DigestLinks): Section | null {
  const { completed, failed, messages } = changes.migrations.counts
  return sectionOf(
    migrationTexts.title,
    links.page('/migrations'),
    [
      rowsOf(changes.migrations, ({ id, status, source, destination, ...counts }) => ({
        tone: status === 'completed' ? (counts.errors === 0 ? 'good' : 'warning') : 'bad',
        label: migrationTexts[status],
        title: oneLine(migrationTexts.row(migrationTexts[status], source, destination)),
        detail: migrationTexts.detail(counts.messages, counts.errors),
        url: links.migration(id),
      })),
    ],
    migrationTexts.lead(completed, failed, messages),
  )
}

export function webhookSection({ changes }: DigestFacts, links: DigestLinks): Section | null {
  return sectionOf(webhookTexts.title, links.page('/hooks'), [
    rowsOf(changes.webhooks, ({ id, label, rejected, aborted }) => ({
      tone: 'warning',
      label: webhookTexts.label,
      title: oneLine(
        webhookTexts.row(oneLine(label, 80) || webhookTexts.unnamed(id), rejected, aborted),
      ),
      url: links.webhook(id),
    })),
  ])
}

export function attackSection({ attacks }: DigestFacts, links: DigestLinks): Section | null {
  const { reports, reportsBefore, services, listed } = attacks
  if (reports === 0) return null
  const named = services.map((one) => `${one.service} ${one.reports.toLocaleString('en')}`)
  const item: Item = {
    tone: 'neutral',
    label: attackTexts.label,
    title: attackTexts.row(reports, reportsBefore),
    detail: oneLine(attackTexts.detail(named, listed)),
    url: links.page('/attacks/servers'),
  }
  return sectionOf(attackTexts.title, links.page('/attacks/servers'), [{ items: [item], total: 1 }])
}

export function alertSection({ changes }: DigestFacts, links: DigestLinks): Section | null {
  return sectionOf(alertTexts.title, links.page('/alerts/history'), [
    rowsOf(changes.alerts, ({ title, path, isResolved }) => ({
      tone: isResolved ? 'good' : 'warning',
      label: isResolved ? alertTexts.resolved : alertTexts.raised,
      title: oneLine(title),
      url: links.page(path || '/alerts/history'),
    })),
  ])
}

export function expirySection(
  { expiring, settings: { timeZone } }: DigestFacts,
  links: DigestLinks,
): Section | null {
  return sectionOf(expiringTexts.title, links.page('/home'), [
    rowsOf(expiring.certificates, (certificate) => ({
      tone: certificate.state === 'valid' ? 'neutral' : 'warning',
      label: expiringTexts.certificate,
      title: oneLine(
        expiringTexts.certificateTitle(
          placeOf(certificate),
          dayText(new Date(certificate.validTo), timeZone),
        ),
      ),
      url: links.host(certificate.hostId),
    })),
    rowsOf(expiring.tokens, ({ label, lastFour, expiresAt }) => ({
      tone: 'neutral',
      label: expiringTexts.token,
      title: expiringTexts.tokenTitle(
        oneLine(label) || expiringTexts.unnamed(lastFour),
        dayText(expiresAt, timeZone),
      ),
      url: links.page('/tokens'),
    })),
  ])
}
