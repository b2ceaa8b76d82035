import type { Bounded } from '../../store/bounded.ts'
import { attention as messages, webhooks } from '../messages.ts'
import type { Section } from './digest-document.ts'
import type { AttentionFacts, DigestFacts } from './facts.ts'
import type { DigestLinks } from './links.ts'
import { placeOf, rowsOf, sectionOf } from './sections.ts'
import { oneLine } from '../../http/shown-name.ts'
import { dayText } from './fact-text.ts'

/** Objects that need attention and are not part of an open problem, for example before its alert. */
export function attentionSection(facts: DigestFacts, links: DigestLinks): Section | null {
  const attention = withoutProblems(facts)
  return sectionOf(messages.title, links.page('/home'), [
    ...severeRows(attention, links),
    ...reportRows(attention, facts.settings.timeZone, links),
    ...quietRows(attention, links),
  ])
}

/** The number of these objects; hosts that could not be checked do not count. */
export function countAttention(facts: DigestFacts): number {
  const { unchecked: _unchecked, ...lists } = withoutProblems(facts)
  return Object.values(lists).reduce((sum, { total }) => sum + total, 0)
}

/** Leaves out the objects of open problems, which are a section of their own. */
function withoutProblems({ open, attention }: DigestFacts): AttentionFacts {
  const keys = new Set(open.rows.map(({ key }) => key))
  const pages = new Set(open.rows.map(({ kind, path }) => `${kind.split('.')[0]} ${path}`))
  const hasProblem = (topic: string, path: string) => pages.has(`${topic} ${path}`)
  return {
    ...attention,
    listed: without(attention.listed, ({ id }) => hasProblem('blacklist', `/monitoring/${id}`)),
    certificates: without(attention.certificates, ({ hostId }) =>
      hasProblem('certificate', `/monitoring/${hostId}`),
    ),
    domains: without(attention.domains, ({ domain }) => hasProblem('domain', `/domains/${domain}`)),
    delistings: without(attention.delistings, ({ id }) =>
      hasProblem('delisting', `/delisting/${id}`),
    ),
    silentDomains: without(attention.silentDomains, ({ id }) =>
      hasProblem('dmarc', `/dmarc/${id}`),
    ),
    mailboxes: without(attention.mailboxes, ({ id }) => keys.has(`dmarc/mailbox/${id}`)),
    silentEndpoints: without(attention.silentEndpoints, ({ id }) =>
      hasProblem('webhook', `/hooks/${id}`),
    ),
  }
}

function without<T>({ rows, total }: Bounded<T>, isLeftOut: (row: T) => boolean): Bounded<T> {
  const left = rows.filter((row) => !isLeftOut(row))
  return { rows: left, total: total - (rows.length - left.length) }
}

function severeRows(attention: AttentionFacts, links: DigestLinks) {
  const nameOf = ({ host, label }: { host: string; label: string }) =>
    label ? `${host} (${oneLine(label, 60)})` : host
  return [
    rowsOf(attention.listed, (host) => ({
      tone: 'bad',
      label: messages.listed,
      title: oneLine(messages.listedTitle(nameOf(host), host.listedCount)),
      url: links.host(host.id),
    })),
    rowsOf(attention.certificates, (certificate) => ({
      tone: 'bad',
      label: messages.certificate,
      title: oneLine(
        messages.certificateTitle[certificate.state]?.(placeOf(certificate)) ??
          placeOf(certificate),
      ),
      url: links.host(certificate.hostId),
    })),
    rowsOf(attention.domains, ({ domain, sentence }) => ({
      tone: 'bad',
      label: messages.domain,
      title: oneLine(sentence || messages.domainTitle(domain)),
      url: links.domain(domain),
    })),
    rowsOf(attention.delistings, ({ id, ip, steps, lists }) => ({
      tone: 'warning',
      label: messages.delisting,
      title: messages.delistingTitle(ip, steps),
      detail: oneLine(lists.join(', ')),
      url: links.delisting(id),
    })),
  ]
}

function reportRows(attention: AttentionFacts, timeZone: string, links: DigestLinks) {
  return [
    rowsOf(attention.silentDomains, ({ id, domain, lastReportAt }) => ({
      tone: 'warning',
      label: messages.silent,
      title: oneLine(messages.silentTitle(domain)),
      detail: messages.silentDetail(dayText(lastReportAt, timeZone)),
      url: links.dmarcDomain(id),
    })),
    rowsOf(attention.unprovenDomains, ({ id, domain, unprovenSince }) => ({
      tone: 'warning',
      label: messages.unproven,
      title: oneLine(messages.unprovenTitle(domain)),
      detail: messages.unprovenDetail(dayText(unprovenSince, timeZone)),
      url: links.dmarcDomain(id),
    })),
    rowsOf(attention.mailboxes, ({ username, lastError }) => ({
      tone: 'warning',
      label: messages.mailbox,
      title: oneLine(messages.mailboxTitle(username)),
      detail: oneLine(lastError),
      url: links.page('/dmarc/mailboxes'),
    })),
    rowsOf(attention.silentEndpoints, ({ id, label, silentSince }) => ({
      tone: 'warning',
      label: messages.endpoint,
      title: oneLine(messages.endpointTitle(oneLine(label, 80) || webhooks.unnamed(id))),
      detail: messages.endpointDetail(dayText(silentSince, timeZone)),
      url: links.webhook(id),
    })),
  ]
}

function quietRows(attention: AttentionFacts, links: DigestLinks) {
  return [
    rowsOf(attention.channels, ({ name, reason }) => ({
      tone: 'warning',
      label: messages.channel,
      title: oneLine(messages.channelTitle(name)),
      detail: oneLine(reason),
      url: links.page('/alerts/channels'),
    })),
    rowsOf(attention.unchecked, ({ id, host, detail }) => ({
      tone: 'neutral',
      label: messages.unchecked,
      title: oneLine(messages.uncheckedTitle(host)),
      ...(detail && { detail: oneLine(detail) }),
      url: links.host(id),
    })),
  ]
}
