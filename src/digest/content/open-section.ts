import { open as messages, webhooks } from '../messages.ts'
import type { Section } from './document.ts'
import type { DigestFacts, OpenFacts } from './facts.ts'
import type { DigestLinks } from './links.ts'
import { placeOf, rowsOf, sectionOf } from './sections.ts'
import { dayText, oneLine } from './text.ts'

/** The number of open problems; hosts that could not be checked are none. */
export function countProblems({ unchecked: _unchecked, ...problems }: OpenFacts): number {
  return Object.values(problems).reduce((sum, { total }) => sum + total, 0)
}

/** What needs attention now, most severe first. */
export function openSection(facts: DigestFacts, links: DigestLinks): Section | null {
  return sectionOf(messages.title, links.page('/home'), [
    ...severeRows(facts, links),
    ...reportRows(facts, links),
    ...quietRows(facts, links),
  ])
}

function severeRows({ open }: DigestFacts, links: DigestLinks) {
  const nameOf = ({ host, label }: { host: string; label: string }) =>
    label ? `${host} (${oneLine(label, 60)})` : host
  return [
    rowsOf(open.listed, (host) => ({
      tone: 'bad',
      label: messages.listed,
      title: oneLine(messages.listedTitle(nameOf(host), host.listedCount)),
      url: links.host(host.id),
    })),
    rowsOf(open.certificates, (certificate) => ({
      tone: 'bad',
      label: messages.certificate,
      title: oneLine(
        messages.certificateTitle[certificate.state]?.(placeOf(certificate)) ??
          placeOf(certificate),
      ),
      url: links.host(certificate.hostId),
    })),
    rowsOf(open.domains, ({ domain, sentence }) => ({
      tone: 'bad',
      label: messages.domain,
      title: oneLine(sentence || messages.domainTitle(domain)),
      url: links.domain(domain),
    })),
    rowsOf(open.delistings, ({ id, ip, steps, lists }) => ({
      tone: 'warning',
      label: messages.delisting,
      title: messages.delistingTitle(ip, steps),
      detail: oneLine(lists.join(', ')),
      url: links.delisting(id),
    })),
  ]
}

function reportRows({ open, settings: { timeZone } }: DigestFacts, links: DigestLinks) {
  return [
    rowsOf(open.silentDomains, ({ id, domain, lastReportAt }) => ({
      tone: 'warning',
      label: messages.silent,
      title: oneLine(messages.silentTitle(domain)),
      detail: messages.silentDetail(dayText(lastReportAt, timeZone)),
      url: links.dmarcDomain(id),
    })),
    rowsOf(open.unprovenDomains, ({ id, domain, unprovenSince }) => ({
      tone: 'warning',
      label: messages.unproven,
      title: oneLine(messages.unprovenTitle(domain)),
      detail: messages.unprovenDetail(dayText(unprovenSince, timeZone)),
      url: links.dmarcDomain(id),
    })),
    rowsOf(open.mailboxes, ({ username, lastError }) => ({
      tone: 'warning',
      label: messages.mailbox,
      title: oneLine(messages.mailboxTitle(username)),
      detail: oneLine(lastError),
      url: links.page('/dmarc/mailboxes'),
    })),
    rowsOf(open.silentEndpoints, ({ id, label, silentSince }) => ({
      tone: 'warning',
      label: messages.endpoint,
      title: oneLine(messages.endpointTitle(oneLine(label, 80) || webhooks.unnamed(id))),
      detail: messages.endpointDetail(dayText(silentSince, timeZone)),
      url: links.webhook(id),
    })),
  ]
}

function quietRows({ open }: DigestFacts, links: DigestLinks) {
  return [
    rowsOf(open.channels, ({ target, reason }) => ({
      tone: 'warning',
      label: messages.channel,
      title: oneLine(messages.channelTitle(target)),
      detail: oneLine(reason),
      url: links.page('/alerts/channels'),
    })),
    rowsOf(open.unchecked, ({ id, host, detail }) => ({
      tone: 'neutral',
      label: messages.unchecked,
      title: oneLine(messages.uncheckedTitle(host)),
      ...(detail && { detail: oneLine(detail) }),
      url: links.host(id),
    })),
  ]
}
