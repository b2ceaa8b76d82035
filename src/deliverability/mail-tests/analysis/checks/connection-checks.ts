import { classify, parseAddress, parseHost } from '../../../../net/address.ts'
import { dataOf } from '../../../../net/dns.ts'
import { dnsFailureOf } from '../../../../protocols/dns-queries.ts'
import { parseMailboxes } from '../../../../protocols/mail/mailboxes.ts'
import { isGenericName } from '../../../../protocols/networks/reverse-dns.ts'
import {
  failed,
  listed,
  notChecked,
  passed,
  quoted,
  type MailCheck,
  type Outcome,
} from '../finding.ts'
import type { MailFacts } from '../mail-facts.ts'

const group = 'connection' as const
const NO_ADDRESS = 'The address of the sending server is not known.'

async function checkReverseName(facts: MailFacts): Promise<Outcome> {
  const { ip } = facts.mail
  const reverse = await facts.reverseDns()
  if (ip === null || reverse === null) return notChecked(NO_ADDRESS)
  const { status, names } = reverse
  const isPublic = classify(ip).public
  if (status === 'unknown') return notChecked(`The names of ${ip} could not be looked up.`)
  if (status === 'confirmed')
    return passed(`${ip} has the name ${names[0]}, which leads back to it.`)
  if (!isPublic)
    return notChecked(
      `${ip} ${names.length === 0 ? 'has no reverse name' : `has the name ${listed(names)}, which does not lead back to it`}. It is not a public address: receivers see another.`,
    )
  const { helo } = facts.mail
  const wanted = helo !== null && isFullName(helo) ? helo : 'the name of your mail server'
  const fix = `Ask the provider of ${ip} to set its reverse name to ${wanted}; it does not stand in the DNS of your domain.`
  if (status === 'missing') return failed(`${ip} has no reverse name (PTR record).`, fix)
  return failed(
    `${ip} has the name ${listed(names)}, but that name does not resolve to ${ip}.`,
    `${fix} If ${names[0]} is right, publish an address record (A or AAAA) for it with ${ip} instead.`,
  )
}

async function checkGenericName(facts: MailFacts): Promise<Outcome> {
  const reverse = await facts.reverseDns()
  const { ip } = facts.mail
  const [name] = reverse?.names ?? []
  if (ip === null || name === undefined) return notChecked('There is no reverse name.')
  if (!isGenericName(name, ip))
    return reverse?.status === 'confirmed'
      ? passed(`${name} is the name of a server.`)
      : notChecked(`${name} does not lead back to ${ip}.`)
  return failed(
    `${name} looks like the name of a dial-up or dynamic address.`,
    'Set a reverse name of your own domain, such as mail.example.com.',
  )
}

function checkHeloSyntax({ mail: { helo, ip } }: MailFacts): Outcome {
  if (helo === null) return notChecked('The greeting of the sending server is not known.')
  const literal = /^\[(?:IPv6:)?(.+)\]$/i.exec(helo)?.[1]
  if (literal !== undefined && parseAddress(literal)) {
    return parseAddress(literal)?.address === ip
      ? passed(`The server greeted with its address, ${helo}.`)
      : failed(
          `The server greeted with ${quoted(helo)}, but came from ${ip}.`,
          'Let the server greet with its full name.',
        )
  }
  if (isFullName(helo)) return passed(`The server greeted as ${helo}.`)
  return failed(
    `The server greeted as ${quoted(helo)}, which is no full host name.`,
    'Set the host name of the mail server to its full name, such as mail.example.com (Postfix: myhostname).',
  )
}

function isFullName(name: string): boolean {
  try {
    const host = parseHost(name)
    return (
      host.kind === 'name' &&
      name.includes('.') &&
      !/\.(?:local|localdomain|lan|internal)$/i.test(name)
    )
  } catch {
    return false
  }
}

async function checkHeloAddress({ mail: { helo, ip }, queries }: MailFacts): Promise<Outcome> {
  if (helo === null || !isFullName(helo)) return notChecked('The greeting is no full host name.')
  const answers = await Promise.all([queries.query(helo, 'A'), queries.query(helo, 'AAAA')])
  const addresses = [...dataOf(answers[0], 'A'), ...dataOf(answers[1], 'AAAA')]
  if (addresses.length === 0)
    return answers.some((answer) => dnsFailureOf(answer))
      ? notChecked(`${helo} could not be looked up.`)
      : failed(`${helo} does not resolve to an address.`, `Publish an address record for ${helo}.`)
  const own = parseAddress(ip ?? '')?.address
  return addresses.some((address) => parseAddress(address)?.address === own)
    ? passed(`${helo} resolves to ${own}.`)
    : passed(`${helo} resolves to ${listed(addresses)}.`)
}

function checkTls({ mail: { connection } }: MailFacts): Outcome {
  if (!connection) return notChecked('The mail did not come to this server over SMTP.')
  const { tls, isTlsOffered } = connection
  if (tls) return passed(`The connection used ${tls.version} with ${tls.cipher}.`)
  if (!isTlsOffered) return notChecked('This server has no certificate, so it offered no TLS.')
  return failed(
    'The server was offered STARTTLS and sent the mail without it.',
    'Turn on TLS for outgoing mail (Postfix: smtp_tls_security_level = may).',
  )
}

function checkTlsVersion({ mail: { connection } }: MailFacts): Outcome {
  if (!connection) return notChecked('The mail did not come to this server over SMTP.')
  if (!connection.tls) return notChecked('The connection did not use TLS.')
  const { version } = connection.tls
  if (version === 'TLSv1.3' || version === 'TLSv1.2') return passed(`The version is ${version}.`)
  return failed(
    `The version is ${version}.`,
    'Update the mail server so that it speaks TLS 1.2 or 1.3.',
  )
}

function checkExtended({ mail: { connection } }: MailFacts): Outcome {
  if (!connection) return notChecked('The mail did not come to this server over SMTP.')
  if (connection.isExtended) return passed('The server greeted with EHLO.')
  return failed(
    'The server greeted with HELO, so it could use neither TLS nor 8-bit text.',
    'Let the mail server greet with EHLO.',
  )
}

async function checkEnvelopeDomain({ mail, envelopeDomain, queries }: MailFacts): Promise<Outcome> {
  if (mail.mailFrom === null) return notChecked('The envelope sender is not known.')
  if (mail.mailFrom === '') return passed('The envelope sender is empty, as in a bounce.')
  return checkReceives(envelopeDomain, 'envelope sender', queries)
}

async function checkFromDomain({ fromDomain, queries }: MailFacts): Promise<Outcome> {
  if (fromDomain === null) return notChecked('From has no single domain.')
  return checkReceives(fromDomain, 'From header', queries)
}

async function checkReplyDomain({ values, queries }: MailFacts): Promise<Outcome> {
  const [value] = values('reply-to')
  if (value === undefined) return passed('There is no Reply-To field; replies go to From.')
  const [mailbox] = parseMailboxes(value)
  if (!mailbox?.domain)
    return failed(
      `Reply-To ${quoted(value)} is no address.`,
      'Write an address into Reply-To, or leave it out.',
    )
  return checkReceives(mailbox.domain, 'Reply-To field', queries)
}

/** Whether mail to a domain has somewhere to go (RFC 5321, 5.1; RFC 7505). */
async function checkReceives(
  domain: string | null,
  place: string,
  queries: MailFacts['queries'],
): Promise<Outcome> {
  if (domain === null) return notChecked(`The ${place} has no domain.`)
  const answer = await queries.query(domain, 'MX')
  if (dnsFailureOf(answer)) return notChecked(`The MX records of ${domain} could not be looked up.`)
  const exchanges = dataOf(answer, 'MX').map(({ exchange }) => exchange.replace(/\.$/, ''))
  const isNull = exchanges.length === 1 && exchanges[0] === ''
  if (isNull)
    return failed(
      `${domain} publishes that it receives no mail (null MX).`,
      `Use a domain in the ${place} that receives mail, or publish MX records for ${domain}.`,
    )
  if (exchanges.length > 0) return passed(`${domain} receives mail at ${listed(exchanges, 3)}.`)
  const fallback = await Promise.all([queries.query(domain, 'A'), queries.query(domain, 'AAAA')])
  if (fallback.some((found) => found.status !== 'FAILED' && found.records.length > 0))
    return passed(`${domain} has no MX record, but an address that can receive mail.`)
  if (fallback.some((found) => dnsFailureOf(found)))
    return notChecked(`The addresses of ${domain} could not be looked up.`)
  return failed(
    `${domain} in the ${place} can receive no mail: it has neither MX nor address records.`,
    `Publish MX records for ${domain}, or use a domain that receives mail.`,
  )
}

export const CONNECTION_CHECKS: MailCheck[] = [
  {
    id: 'reverse-name',
    group,
    severity: 'blocks',
    title: 'Reverse name of the server',
    rule: 'The sending address has a name, and that name resolves to the address.',
    source: 'Google Email sender guidelines; RFC 8601, 2.7.3',
    run: checkReverseName,
  },
  {
    id: 'reverse-name-generic',
    group,
    severity: 'hurts',
    title: 'Kind of reverse name',
    rule: 'The reverse name is not one that a provider makes out of the address.',
    source: 'M3AAWG Sender Best Common Practices; Spamhaus PBL',
    run: checkGenericName,
  },
  {
    id: 'helo-name',
    group,
    severity: 'hurts',
    title: 'Greeting',
    rule: 'The server greets with its full host name or its address in brackets.',
    source: 'RFC 5321, 4.1.1.1',
    run: checkHeloSyntax,
  },
  {
    id: 'helo-address',
    group,
    severity: 'hurts',
    title: 'Address of the greeting',
    rule: 'The name in the greeting resolves to an address.',
    source: 'RFC 5321, 2.3.5',
    run: checkHeloAddress,
  },
  {
    id: 'tls',
    group,
    severity: 'blocks',
    title: 'Encrypted connection',
    rule: 'The mail is sent over TLS.',
    source: 'Google Email sender guidelines; RFC 3207',
    run: checkTls,
  },
  {
    id: 'tls-version',
    group,
    severity: 'hurts',
    title: 'TLS version',
    rule: 'The connection uses TLS 1.2 or later.',
    source: 'RFC 8996',
    run: checkTlsVersion,
  },
  {
    id: 'ehlo',
    group,
    severity: 'hurts',
    title: 'SMTP extensions',
    rule: 'The server greets with EHLO.',
    source: 'RFC 5321, 2.2.1',
    run: checkExtended,
  },
  {
    id: 'envelope-domain',
    group,
    severity: 'hurts',
    title: 'Domain of the envelope sender',
    rule: 'Bounces can be delivered to the envelope sender.',
    source: 'RFC 5321, 4.4 and 5.1',
    run: checkEnvelopeDomain,
  },
  {
    id: 'from-domain',
    group,
    severity: 'hurts',
    title: 'Domain of the From header',
    rule: 'The domain in From receives mail.',
    source: 'RFC 5322, 3.6.2; RFC 7505',
    run: checkFromDomain,
  },
  {
    id: 'reply-domain',
    group,
    severity: 'hurts',
    title: 'Domain of replies',
    rule: 'Replies can be delivered.',
    source: 'RFC 5322, 3.6.2',
    run: checkReplyDomain,
  },
]
