import { IP, SIGNATURE, type MailSpec } from './world.ts'

/** A fault that is planted into a good mail, and what must be found. */
export type Fault = {
  name: string
  /** Where the fault was seen, or which rule it breaks. */
  source: string
  /** Checks that must fail. */
  fails: string[]
  /** Exactly these failures block. */
  blocks?: string[]
  plant(spec: MailSpec): Partial<MailSpec>
}

const replaceField = (spec: MailSpec, name: string, ...fields: string[]) => [
  ...spec.fields.filter((field) => !field.toLowerCase().startsWith(`${name.toLowerCase()}:`)),
  ...fields,
]
const tagged = (tags: Record<string, string>, key?: 'rsa1024' | 'rsa1016' | 'rsa512' | 'other') => [
  { ...SIGNATURE, ...(key && { key }), tags: { ...SIGNATURE.tags, ...tags } },
]
const htmlWith = (spec: MailSpec, piece: string) =>
  (spec.html ?? '').replace('</body>', `${piece}</body>`)
const attach =
  (name: string, content: Buffer | string = 'x', type = 'application/octet-stream') =>
  () => ({
    attachments: [{ name, type, content: Buffer.from(content) }],
  })

/** The central directory of an archive with one file. */
function zipOf(name: string, isEncrypted = false): Buffer {
  const entry = Buffer.alloc(46)
  entry.write('PK\u0001\u0002', 0, 'latin1')
  entry.writeUInt16LE(isEncrypted ? 1 : 0, 8)
  entry.writeUInt16LE(name.length, 28)
  return Buffer.concat([Buffer.from('PK\u0003\u0004'), entry, Buffer.from(name)])
}

const noDmarc = { '_dmarc.sender.test TXT': [] }
const WORDS = 'this text is here for filters only and nobody reads it because a style hides it '

export const FAULTS: Fault[] = [
  // Connection
  {
    name: 'no reverse name',
    source: 'Gmail 550 5.7.25',
    fails: ['reverse-name'],
    blocks: ['reverse-name'],
    plant: () => ({ records: { '34.216.184.93.in-addr.arpa PTR': [] } }),
  },
  {
    name: 'a reverse name that leads elsewhere',
    source: 'Gmail 421 4.7.23',
    fails: ['reverse-name'],
    blocks: ['reverse-name'],
    plant: () => ({
      records: {
        '34.216.184.93.in-addr.arpa PTR': ['mail.other.test'],
        'mail.other.test A': ['93.184.216.99'],
      },
    }),
  },
  {
    name: 'a reverse name of a dial-up line',
    source: 'Spamhaus PBL',
    fails: ['reverse-name-generic'],
    plant: () => ({
      records: {
        '34.216.184.93.in-addr.arpa PTR': ['93-184-216-34.dyn.isp.test'],
        '93-184-216-34.dyn.isp.test A': [IP],
      },
    }),
  },
  {
    name: 'HELO localhost',
    source: 'Postfix reject_non_fqdn_helo_hostname',
    fails: ['helo-name'],
    plant: () => ({ helo: 'localhost' }),
  },
  {
    name: 'HELO with a private suffix',
    source: 'mailcow#2244',
    fails: ['helo-name'],
    plant: () => ({ helo: 'web01.local' }),
  },
  {
    name: 'HELO with another address',
    source: 'RFC 5321, 4.1.3',
    fails: ['helo-name'],
    plant: () => ({ helo: '[10.0.0.5]' }),
  },
  {
    name: 'HELO that does not resolve',
    source: 'Postfix reject_unknown_helo_hostname',
    fails: ['helo-address'],
    plant: () => ({ helo: 'gone.sender.test' }),
  },
  {
    name: 'no TLS although it was offered',
    source: 'Gmail 421 4.7.29',
    fails: ['tls'],
    blocks: ['tls'],
    plant: (spec) => ({ connection: { ...spec.connection, tls: null } }),
  },
  {
    name: 'TLS 1.0',
    source: 'RFC 8996',
    fails: ['tls-version'],
    plant: (spec) => ({
      connection: { ...spec.connection, tls: { version: 'TLSv1', cipher: 'AES128-SHA' } },
    }),
  },
  {
    name: 'HELO instead of EHLO',
    source: 'RFC 5321, 2.2.1',
    fails: ['ehlo'],
    plant: (spec) => ({ connection: { ...spec.connection, isExtended: false } }),
  },
  {
    name: 'an envelope sender that receives no bounces',
    source: 'Postfix reject_unknown_sender_domain',
    fails: ['envelope-domain'],
    plant: () => ({
      mailFrom: 'b@gone.sender.test',
      records: { 'gone.sender.test TXT': [`v=spf1 ip4:${IP} -all`] },
    }),
  },
  {
    name: 'a From domain with null MX',
    source: 'RFC 7505',
    fails: ['from-domain'],
    plant: () => ({ records: { 'sender.test MX': ['0 .'] } }),
  },
  {
    name: 'a Reply-To without a domain',
    source: 'mailcow/mailcow#374',
    fails: ['reply-domain'],
    plant: (spec) => ({ fields: [...spec.fields, 'Reply-To: anna'] }),
  },
  {
    name: 'a Reply-To that does not exist',
    source: 'SpamAssassin 4: FROMREPLYTO rules',
    fails: ['reply-domain'],
    plant: (spec) => ({ fields: [...spec.fields, 'Reply-To: <anna@nowhere.test>'] }),
  },
  // Authentication
  {
    name: 'neither SPF nor DKIM',
    source: 'Gmail 550 5.7.26',
    fails: ['authenticated', 'spf', 'dkim', 'dmarc'],
    blocks: ['authenticated', 'dmarc'],
    plant: () => ({ signatures: [], records: { 'sender.test TXT': ['v=spf1 -all'] } }),
  },
  {
    name: 'neither, without a policy',
    source: 'Gmail 550 5.7.26',
    fails: ['authenticated', 'dmarc-record'],
    blocks: ['authenticated'],
    plant: () => ({ signatures: [], records: { 'sender.test TXT': [], ...noDmarc } }),
  },
  {
    name: 'an SPF record without the server',
    source: 'Gmail 421 4.7.27',
    fails: ['spf'],
    plant: () => ({ records: { 'sender.test TXT': ['v=spf1 ip4:192.0.2.1 -all'] } }),
  },
  {
    name: 'no SPF record',
    source: 'RFC 7208, 2.6.1',
    fails: ['spf'],
    plant: () => ({ records: { 'sender.test TXT': [] } }),
  },
  {
    name: 'two SPF records',
    source: 'RFC 7208, 4.5',
    fails: ['spf'],
    plant: () => ({ records: { 'sender.test TXT': ['v=spf1 a -all', 'v=spf1 mx -all'] } }),
  },
  {
    name: 'an SPF record with more than ten lookups',
    source: 'RFC 7208, 4.6.4',
    fails: ['spf'],
    plant: () => ({
      records: {
        'sender.test TXT': [
          `v=spf1 ${Array.from({ length: 11 }, (_, n) => `include:i${n}.sender.test`).join(' ')} -all`,
        ],
        ...Object.fromEntries(
          Array.from({ length: 11 }, (_, n) => [
            `i${n}.sender.test TXT`,
            ['v=spf1 ip4:192.0.2.1 -all'],
          ]),
        ),
      },
    }),
  },
  {
    name: 'an SPF record with a misspelled mechanism',
    source: 'RFC 7208, 4.6',
    fails: ['spf'],
    plant: () => ({ records: { 'sender.test TXT': [`v=spf1 ipv4:${IP} -all`] } }),
  },
  {
    name: 'an SPF record that permits everyone',
    source: 'RFC 7208, 8.4',
    fails: ['spf-open'],
    plant: () => ({ records: { 'sender.test TXT': ['v=spf1 +all'] } }),
  },
  {
    name: 'a greeting whose SPF forbids the server',
    source: 'RFC 7208, 2.3',
    fails: ['spf-helo'],
    plant: () => ({ records: { 'mail.sender.test TXT': ['v=spf1 -all'] } }),
  },
  {
    name: 'no DKIM signature',
    source: 'Gmail 421 4.7.30',
    fails: ['dkim'],
    plant: () => ({ signatures: [] }),
  },
  {
    name: 'a body that was changed after signing',
    source: 'RFC 6376, 5.3',
    fails: ['dkim'],
    plant: () => ({ edit: (mail) => mail.replace('tomorrow morning', 'tomorrow evening') }),
  },
  {
    name: 'a subject that was changed after signing',
    source: 'RFC 6376, 5.4',
    fails: ['dkim'],
    plant: () => ({ edit: (mail) => mail.replace('Subject: ', 'Subject: [EXTERNAL] ') }),
  },
  {
    name: 'a key that is not published',
    source: 'OpenDKIM: no key',
    fails: ['dkim'],
    plant: () => ({ records: { 's1._domainkey.sender.test TXT': [] } }),
  },
  {
    name: 'another key published',
    source: 'mailcow#1371',
    fails: ['dkim'],
    plant: () => ({ records: { 's1._domainkey.sender.test TXT': ['v=DKIM1; p={other}'] } }),
  },
  {
    name: 'a revoked key',
    source: 'RFC 6376, 3.6.1',
    fails: ['dkim'],
    plant: () => ({ records: { 's1._domainkey.sender.test TXT': ['v=DKIM1; p='] } }),
  },
  {
    name: 'a key record that was cut',
    source: 'DNSControl#3172',
    fails: ['dkim'],
    plant: () => ({
      records: { 's1._domainkey.sender.test TXT': ['v=DKIM1; p=MIIBIjANBgkqhkiG9w0B'] },
    }),
  },
  {
    name: 'a key of 512 bits',
    source: 'RFC 8301, 3.2',
    fails: ['dkim-key-size', 'dkim'],
    blocks: ['dkim-key-size'],
    plant: () => ({
      signatures: tagged({}, 'rsa512'),
      records: { 's1._domainkey.sender.test TXT': ['v=DKIM1; p={rsa512}'] },
    }),
  },
  {
    name: 'a key of 1016 bits',
    source: 'Google Email sender guidelines',
    fails: ['dkim-key-size'],
    blocks: ['dkim-key-size'],
    plant: () => ({
      signatures: tagged({}, 'rsa1016'),
      records: { 's1._domainkey.sender.test TXT': ['v=DKIM1; p={rsa1016}'] },
    }),
  },
  {
    name: 'a key of 1024 bits',
    source: 'RFC 8301, 3.2',
    fails: ['dkim-key-strength'],
    plant: () => ({
      signatures: tagged({}, 'rsa1024'),
      records: { 's1._domainkey.sender.test TXT': ['v=DKIM1; p={rsa1024}'] },
    }),
  },
  {
    name: 'a signature with l=',
    source: 'Zone.eu, 2024',
    fails: ['dkim-length'],
    plant: () => ({ signatures: tagged({ l: '100' }) }),
  },
  {
    name: 'a signature that has expired',
    source: 'RFC 6376, 3.5',
    fails: ['dkim-expiry', 'dkim'],
    plant: () => ({ signatures: tagged({ t: '1500000000', x: '1500600000' }) }),
  },
  {
    name: 'a signature with rsa-sha1',
    source: 'RFC 8301, 3.1',
    fails: ['dkim-algorithm', 'dkim'],
    plant: () => ({ signatures: tagged({ a: 'rsa-sha1' }) }),
  },
  {
    name: 'a key in test mode',
    source: 'RFC 6376, 3.6.1',
    fails: ['dkim-testing'],
    plant: () => ({ records: { 's1._domainkey.sender.test TXT': ['v=DKIM1; t=y; p={rsa}'] } }),
  },
  {
    name: 'a signature without Subject and Date',
    source: 'RFC 6376, 5.4.1',
    fails: ['dkim-fields'],
    plant: () => ({
      signatures: tagged({ h: 'from:from:to:list-unsubscribe:list-unsubscribe-post' }),
    }),
  },
  {
    name: 'From signed once',
    source: 'RFC 6376, 8.15',
    fails: ['dkim-oversigning'],
    plant: () => ({
      signatures: tagged({ h: 'from:to:subject:date:list-unsubscribe:list-unsubscribe-post' }),
    }),
  },
  {
    name: 'a second signature that fails',
    source: 'Amazon SES with two keys',
    fails: ['dkim-others'],
    plant: () => ({ signatures: [SIGNATURE, { ...SIGNATURE, key: 'other' }] }),
  },
  {
    name: 'no DMARC record',
    source: 'Gmail 421 4.7.31',
    fails: ['dmarc-record'],
    plant: () => ({ records: noDmarc }),
  },
  {
    name: 'two DMARC records',
    source: 'RFC 9989, 4.10',
    fails: ['dmarc-record'],
    plant: () => ({
      records: { '_dmarc.sender.test TXT': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    }),
  },
  {
    name: 'a service that signs and sends with its own domain',
    source: 'Gmail 421 4.7.32',
    fails: ['dmarc', 'dkim-aligned', 'spf-aligned'],
    blocks: ['dmarc'],
    plant: () => ({
      mailFrom: 'b@other.test',
      signatures: tagged({ d: 'other.test' }),
      records: {
        'other.test TXT': [`v=spf1 ip4:${IP} -all`],
        's1._domainkey.other.test TXT': ['v=DKIM1; p={rsa}'],
      },
    }),
  },
  {
    name: 'the same under p=none',
    source: 'Microsoft 550 5.7.515',
    fails: ['dmarc', 'dmarc-policy'],
    plant: () => ({
      mailFrom: 'b@other.test',
      signatures: tagged({ d: 'other.test' }),
      records: {
        '_dmarc.sender.test TXT': ['v=DMARC1; p=none'],
        'other.test TXT': [`v=spf1 ip4:${IP} -all`],
        's1._domainkey.other.test TXT': ['v=DKIM1; p={rsa}'],
      },
    }),
  },
  {
    name: 'strict alignment with a subdomain',
    source: 'RFC 9989, 4.4',
    fails: ['dmarc'],
    blocks: ['dmarc'],
    plant: () => ({
      mailFrom: 'b@mail.sender.test',
      signatures: tagged({ d: 'mail.sender.test' }),
      records: {
        '_dmarc.sender.test TXT': ['v=DMARC1; p=quarantine; adkim=s; aspf=s'],
        'mail.sender.test TXT': [`v=spf1 ip4:${IP} -all`],
        's1._domainkey.mail.sender.test TXT': ['v=DKIM1; p={rsa}'],
      },
    }),
  },
  {
    name: 'only SPF aligned',
    source: 'Google FAQ',
    fails: ['dkim-aligned'],
    plant: () => ({
      signatures: tagged({ d: 'other.test' }),
      records: { 's1._domainkey.other.test TXT': ['v=DKIM1; p={rsa}'] },
    }),
  },
  {
    name: 'a broken ARC chain',
    source: 'RFC 8617, 5.2',
    fails: ['arc'],
    plant: (spec) => ({
      fields: [
        'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=other.test; s=s1; b=AAAA',
        'ARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=other.test; s=s1; h=from; bh=AAAA; b=AAAA',
        'ARC-Authentication-Results: i=1; other.test; spf=pass',
        ...spec.fields,
      ],
    }),
  },
  {
    name: 'an incomplete ARC set',
    source: 'RFC 8617, 5.2',
    fails: ['arc'],
    plant: (spec) => ({
      fields: ['ARC-Seal: i=2; a=rsa-sha256; cv=pass; d=other.test; s=s1; b=AAAA', ...spec.fields],
    }),
  },
  {
    name: 'an incomplete BIMI record',
    source: 'BIMI draft',
    fails: ['bimi'],
    plant: () => ({
      records: { 'default._bimi.sender.test TXT': ['v=BIMI1; l=https://www.sender.test/logo.svg'] },
    }),
  },
  {
    name: 'an Authentication-Results field that claims a pass',
    source: 'happyDeliver; RFC 8601, 5',
    fails: ['authenticated'],
    blocks: ['authenticated', 'dmarc'],
    plant: (spec) => ({
      signatures: [],
      records: { 'sender.test TXT': ['v=spf1 -all'] },
      fields: [
        'Authentication-Results: tests.test; spf=pass; dkim=pass; dmarc=pass',
        ...spec.fields,
      ],
    }),
  },
  // Lists
  {
    name: 'an address on Spamhaus',
    source: 'Spamhaus ZEN',
    fails: ['address-lists'],
    blocks: ['address-lists'],
    plant: () => ({ records: { '34.216.184.93.zen.spamhaus.org A': ['127.0.0.4'] } }),
  },
  {
    name: 'an address on SpamCop',
    source: 'SpamCop',
    fails: ['address-lists'],
    blocks: ['address-lists'],
    plant: () => ({ records: { '34.216.184.93.bl.spamcop.net A': ['127.0.0.2'] } }),
  },
  {
    name: 'an address on a lesser list',
    source: 'UCEPROTECT',
    fails: ['other-address-lists'],
    plant: () => ({ records: { '34.216.184.93.dnsbl-1.uceprotect.net A': ['127.0.0.2'] } }),
  },
  {
    name: 'a listed From domain',
    source: 'Spamhaus DBL',
    fails: ['from-domain-lists'],
    blocks: ['from-domain-lists'],
    plant: () => ({ records: { 'sender.test.dbl.spamhaus.org A': ['127.0.1.2'] } }),
  },
  {
    name: 'a listed envelope domain',
    source: 'SURBL',
    fails: ['other-domain-lists'],
    plant: () => ({
      mailFrom: 'b@other.test',
      records: {
        'other.test TXT': [`v=spf1 ip4:${IP} -all`],
        'other.test.multi.surbl.org A': ['127.0.0.64'],
      },
    }),
  },
  {
    name: 'a link to a listed domain',
    source: 'URIBL',
    fails: ['link-domain-lists'],
    plant: (spec) => ({
      html: htmlWith(spec, '<a href="https://www.other.test/x">more</a>'),
      records: { 'other.test.multi.uribl.com A': ['127.0.0.2'] },
    }),
  },
  {
    name: 'a link to a name that does not exist',
    source: 'mail-tester: broken links',
    fails: ['link-hosts'],
    plant: (spec) => ({ html: htmlWith(spec, '<a href="https://gone.sender.test/x">more</a>') }),
  },
  // Header
  {
    name: 'two From fields',
    source: 'Gmail 550 5.7.1; RFC 5322, 3.6',
    fails: ['from-single'],
    blocks: ['from-single'],
    plant: (spec) => ({ fields: [...spec.fields, 'From: Other <o@sender.test>'] }),
  },
  {
    name: 'two addresses in From',
    source: 'Google Email sender guidelines',
    fails: ['from-single'],
    blocks: ['from-single'],
    plant: (spec) => ({ fields: replaceField(spec, 'From', 'From: a@sender.test, b@sender.test') }),
  },
  {
    name: 'no From field',
    source: 'RFC 5322, 3.6',
    fails: ['from-single'],
    blocks: ['from-single'],
    plant: (spec) => ({ fields: replaceField(spec, 'From') }),
  },
  {
    name: 'From without an address',
    source: 'RFC 5322, 3.4',
    fails: ['from-syntax'],
    blocks: ['from-syntax'],
    plant: (spec) => ({ fields: replaceField(spec, 'From', 'From: Anna Sender') }),
  },
  {
    name: 'a Gmail address in From',
    source: 'Google Email sender guidelines',
    fails: ['from-provider'],
    blocks: ['from-provider', 'dmarc'],
    plant: (spec) => ({
      fields: replaceField(spec, 'From', 'From: Shop <shop@gmail.com>'),
      records: {
        'gmail.com MX': ['5 mx.gmail.com'],
        '_dmarc.gmail.com TXT': ['v=DMARC1; p=quarantine'],
      },
    }),
  },
  {
    name: 'another address as the name',
    source: 'SpamAssassin: FROM_2_EMAILS',
    fails: ['from-name'],
    plant: (spec) => ({
      fields: replaceField(spec, 'From', 'From: "service@bank.test" <anna@sender.test>'),
    }),
  },
  {
    name: 'no Date',
    source: 'RFC 5322, 3.6',
    fails: ['date'],
    plant: (spec) => ({ fields: replaceField(spec, 'Date') }),
  },
  {
    name: 'a Date of next week',
    source: 'SpamAssassin: DATE_IN_FUTURE',
    fails: ['date'],
    plant: (spec) => ({
      fields: replaceField(spec, 'Date', 'Date: Mon, 07 Dec 2026 09:00:00 +0000'),
    }),
  },
  {
    name: 'a Date of two days ago',
    source: 'SpamAssassin: DATE_IN_PAST',
    fails: ['date'],
    plant: (spec) => ({
      fields: replaceField(spec, 'Date', 'Date: Sat, 28 Nov 2026 09:00:00 +0000'),
    }),
  },
  {
    name: 'a Date in words of another format',
    source: 'SpamAssassin: INVALID_DATE',
    fails: ['date'],
    plant: (spec) => ({ fields: replaceField(spec, 'Date', 'Date: 2026-11-30 09:00:00') }),
  },
  {
    name: 'no Message-ID',
    source: 'Google Email sender guidelines',
    fails: ['message-id'],
    plant: (spec) => ({ fields: replaceField(spec, 'Message-ID') }),
  },
  {
    name: 'a Message-ID without brackets',
    source: 'SpamAssassin: INVALID_MSGID',
    fails: ['message-id'],
    plant: (spec) => ({ fields: replaceField(spec, 'Message-ID', 'Message-ID: 1234@sender.test') }),
  },
  {
    name: 'a Message-ID of localhost',
    source: 'PHPMailer without a host name',
    fails: ['message-id-host'],
    plant: (spec) => ({
      fields: replaceField(spec, 'Message-ID', 'Message-ID: <1234@localhost.localdomain>'),
    }),
  },
  {
    name: 'two subjects',
    source: 'RFC 5322, 3.6',
    fails: ['duplicate-fields'],
    plant: (spec) => ({ fields: [...spec.fields, 'Subject: Another'] }),
  },
  {
    name: 'two Message-IDs',
    source: 'Gmail 550 5.7.1',
    fails: ['duplicate-fields'],
    plant: (spec) => ({ fields: [...spec.fields, 'Message-ID: <2@sender.test>'] }),
  },
  {
    name: 'a line in the header without a name',
    source: 'RFC 5322, 2.2',
    fails: ['header-syntax'],
    plant: (spec) => ({ fields: [...spec.fields, 'this line is no field'] }),
  },
  {
    name: 'a header line of 1,200 characters',
    source: 'RFC 5322, 2.1.1',
    fails: ['header-line-length'],
    plant: (spec) => ({ fields: [...spec.fields, `X-Data: ${'y'.repeat(1200)}`] }),
  },
  {
    name: 'a subject in raw Latin-1',
    source: 'RFC 5322, 2.2',
    fails: ['header-8bit'],
    plant: (spec) => ({ fields: replaceField(spec, 'Subject', 'Subject: Gr\u00fc\u00dfe') }),
  },
  {
    name: 'a Message-ID with the name of a container',
    source: 'rspamd: MID_RHS_NOT_FQDN',
    fails: ['message-id-host'],
    plant: (spec) => ({
      fields: replaceField(spec, 'Message-ID', 'Message-ID: <1234@15b0717dc4c2>'),
    }),
  },
  {
    name: 'an encoded line of 200 characters',
    source: 'SpamAssassin: MIME_QP_LONG_LINE',
    fails: ['encoded-line-length'],
    plant: () => ({
      raw: {
        fields: [
          'MIME-Version: 1.0',
          'Content-Type: text/plain; charset=utf-8',
          'Content-Transfer-Encoding: quoted-printable',
        ],
        body: `Gr=C3=BC=C3=9Fe, ${'word '.repeat(40)}\r\n`,
      },
    }),
  },
  {
    name: 'an encoded word of an unknown charset',
    source: 'RFC 2047, 2',
    fails: ['encoded-words'],
    plant: (spec) => ({ fields: replaceField(spec, 'Subject', 'Subject: =?x-nothing?Q?Hello?=') }),
  },
  {
    name: 'an encoded word with spaces',
    source: 'RFC 2047, 2',
    fails: ['encoded-words'],
    plant: (spec) => ({
      fields: replaceField(spec, 'Subject', 'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe an alle?='),
    }),
  },
  {
    name: 'no subject',
    source: 'SpamAssassin: MISSING_SUBJECT',
    fails: ['subject'],
    plant: (spec) => ({ fields: replaceField(spec, 'Subject') }),
  },
  {
    name: 'an empty subject',
    source: 'SpamAssassin: MISSING_SUBJECT',
    fails: ['subject'],
    plant: (spec) => ({ fields: replaceField(spec, 'Subject', 'Subject:  ') }),
  },
  {
    name: 'neither To nor Cc',
    source: 'SpamAssassin: MISSING_HEADERS',
    fails: ['recipient'],
    plant: (spec) => ({ fields: replaceField(spec, 'To') }),
  },
  {
    name: 'a recipient in Bcc',
    source: 'SpamAssassin: TO_EQ_FROM',
    fails: ['recipient'],
    plant: (spec) => ({ fields: replaceField(spec, 'To', 'To: <anna@sender.test>') }),
  },
  {
    name: 'an answer to nothing',
    source: 'SpamAssassin: FAKE_REPLY',
    fails: ['reply-thread'],
    plant: (spec) => ({ fields: replaceField(spec, 'Subject', 'Subject: Re: your order') }),
  },
  {
    name: 'the script that sent it',
    source: 'PHP mail.add_x_header',
    fails: ['header-leaks'],
    plant: (spec) => ({ fields: [...spec.fields, 'X-PHP-Originating-Script: 33:mail.php'] }),
  },
  {
    name: 'thirty hops',
    source: 'RFC 5321, 6.3',
    fails: ['received-count'],
    plant: (spec) => ({
      fields: [
        ...Array.from(
          { length: 30 },
          (_, n) => `Received: from a by b${n}; Mon, 30 Nov 2026 08:59:00 +0000`,
        ),
        ...spec.fields,
      ],
    }),
  },
  // Structure
  {
    name: 'no MIME-Version',
    source: 'RFC 2045, 4',
    fails: ['mime-version'],
    plant: () => ({ edit: (mail) => mail.replace('MIME-Version: 1.0\r\n', '') }),
  },
  {
    name: 'no closing boundary',
    source: 'RFC 2046, 5.1.1',
    fails: ['mime-parts'],
    plant: () => ({ editBody: (body) => body.replace(/--alt--\r\n/, '') }),
  },
  {
    name: 'a boundary that never appears',
    source: 'RFC 2046, 5.1.1',
    fails: ['mime-parts'],
    plant: () => ({ editBody: (body) => body.replaceAll('--alt', '--alx') }),
  },
  {
    name: 'a body line of 2,000 characters',
    source: 'RFC 5322, 2.1.1',
    fails: ['body-line-length'],
    plant: (spec) => ({ html: htmlWith(spec, `<p>${'word '.repeat(400)}</p>`) }),
  },
  {
    name: 'bare line feeds',
    source: 'SMTP smuggling, 2023',
    fails: ['line-ends'],
    plant: () => ({ edit: (mail) => mail.replace('Hello,\r\n', 'Hello,\n') }),
  },
  {
    name: 'NUL bytes',
    source: 'RFC 5322, 4',
    fails: ['nul-bytes'],
    plant: () => ({ editBody: (body) => body.replace('Hello', 'Hel\0lo') }),
  },
  {
    name: 'an unknown charset',
    source: 'RFC 2046, 4.1.2',
    fails: ['charset'],
    plant: () => ({ editBody: (body) => body.replace('charset=utf-8', 'charset=x-unknown') }),
  },
  {
    name: 'Latin-1 that says UTF-8',
    source: 'RFC 3629',
    fails: ['charset'],
    plant: () => ({ editBody: (body) => body.replace('Hello', 'Gr\u00fc\u00dfe') }),
  },
  {
    name: '8-bit text that says 7bit',
    source: 'RFC 2045, 6.2',
    fails: ['transfer-encoding'],
    plant: (spec) => ({
      text: `Grüße. ${spec.text}`,
      editBody: (body) => body.replaceAll('Transfer-Encoding: 8bit', 'Transfer-Encoding: 7bit'),
    }),
  },
  {
    name: 'an unknown transfer encoding',
    source: 'RFC 2045, 6.4',
    fails: ['transfer-encoding'],
    plant: () => ({
      editBody: (body) => body.replace('Transfer-Encoding: 8bit', 'Transfer-Encoding: utf-8'),
    }),
  },
  {
    name: 'base64 that is none',
    source: 'RFC 2045, 6.8',
    fails: ['transfer-encoding'],
    plant: () => ({
      editBody: (body) => body.replace('Transfer-Encoding: 8bit', 'Transfer-Encoding: base64'),
    }),
  },
  {
    name: 'text that was encoded twice',
    source: 'RFC 3629',
    fails: ['double-encoding'],
    plant: (spec) => ({ html: htmlWith(spec, '<p>GrÃ¼ÃŸe</p>') }),
  },
  {
    name: 'HTML without text',
    source: 'SpamAssassin: MIME_HTML_ONLY',
    fails: ['text-part'],
    plant: () => ({ text: null }),
  },
  {
    name: 'text that says something else',
    source: 'SpamAssassin: MPART_ALT_DIFF',
    fails: ['text-matches'],
    plant: () => ({ text: 'Please use another program to read mail like that. Unsubscribe.\n' }),
  },
  {
    name: 'no text at all',
    source: 'SpamAssassin: EMPTY_MESSAGE',
    fails: ['body-empty'],
    plant: () => ({ text: '\n', html: null }),
  },
  {
    name: 'a program attached',
    source: 'Gmail 552 5.7.0',
    fails: ['attachment-programs'],
    blocks: ['attachment-programs'],
    plant: attach('setup.exe'),
  },
  {
    name: 'a program in an archive',
    source: 'Gmail 552 5.7.0',
    fails: ['attachment-programs'],
    blocks: ['attachment-programs'],
    plant: attach('files.zip', zipOf('invoice.js'), 'application/zip'),
  },
  {
    name: 'an encrypted archive',
    source: 'Gmail Help: blocked file types',
    fails: ['attachment-encrypted'],
    plant: attach('files.zip', zipOf('invoice.pdf', true), 'application/zip'),
  },
  {
    name: 'an Office file with macros',
    source: 'Gmail Help: blocked file types',
    fails: ['attachment-macros'],
    plant: attach('list.xlsm'),
  },
  {
    name: 'a file with two types',
    source: 'SpamAssassin rule set',
    fails: ['attachment-names'],
    plant: attach('invoice.pdf.html'),
  },
  {
    name: 'HTML of 200 kB',
    source: 'Gmail clips at 102 kB',
    fails: ['html-size'],
    plant: (spec) => ({ html: htmlWith(spec, '<p>word</p>\n'.repeat(20_000)) }),
  },
  {
    name: 'a file of 6 MB',
    source: 'RFC 1870',
    fails: ['size'],
    plant: attach('plan.pdf', Buffer.alloc(6 * 1024 * 1024, 1)),
  },
  // Content
  {
    name: 'text hidden with display:none',
    source: 'Google Email sender guidelines',
    fails: ['hidden-text'],
    plant: (spec) => ({
      html: htmlWith(spec, `<div style="display:none">${WORDS.repeat(4)}</div>`),
    }),
  },
  {
    name: 'white text on white',
    source: 'Google Email sender guidelines',
    fails: ['hidden-text'],
    plant: (spec) => ({
      html: htmlWith(spec, `<p style="color: #fff; background-color: #fff">${WORDS.repeat(4)}</p>`),
    }),
  },
  {
    name: 'text of size zero',
    source: 'SpamAssassin: HTML_FONT_TINY',
    fails: ['hidden-text'],
    plant: (spec) => ({
      html: htmlWith(spec, `<span style="font-size:0px">${WORDS.repeat(4)}</span>`),
    }),
  },
  {
    name: 'an image instead of text',
    source: 'SpamAssassin: HTML_IMAGE_ONLY',
    fails: ['image-share'],
    plant: () => ({ html: '<img src="https://www.sender.test/all.png">' }),
  },
  {
    name: 'images over http',
    source: 'RFC 9110, 4.2.2',
    fails: ['image-links'],
    plant: (spec) => ({ html: htmlWith(spec, '<img src="http://www.sender.test/a.png">') }),
  },
  {
    name: 'a script',
    source: 'mail programs drop it',
    fails: ['active-content'],
    plant: (spec) => ({ html: htmlWith(spec, '<script>alert(1)</script>') }),
  },
  {
    name: 'a form',
    source: 'mail programs drop it',
    fails: ['active-content'],
    plant: (spec) => ({
      html: htmlWith(spec, '<form action="https://www.sender.test/f"><input></form>'),
    }),
  },
  {
    name: 'a shortened link',
    source: 'Spamhaus: abused redirectors',
    fails: ['link-shorteners'],
    plant: (spec) => ({
      html: htmlWith(spec, '<a href="https://bit.ly/3abc">more</a>'),
      records: { 'bit.ly A': ['67.199.248.10'] },
    }),
  },
  {
    name: 'a link to an address',
    source: 'SpamAssassin: NUMERIC_HTTP_ADDR',
    fails: ['link-addresses'],
    plant: (spec) => ({ html: htmlWith(spec, '<a href="http://93.184.216.60/x">more</a>') }),
  },
  {
    name: 'a link that shows another domain',
    source: 'phishing pattern',
    fails: ['link-text'],
    plant: (spec) => ({
      html: htmlWith(spec, '<a href="https://www.other.test/l">https://www.bank.test/login</a>'),
    }),
  },
  {
    name: 'a link with a user name',
    source: 'RFC 9110, 4.2.4',
    fails: ['link-user'],
    plant: (spec) => ({
      html: htmlWith(spec, '<a href="https://www.bank.test@www.other.test/l">more</a>'),
    }),
  },
  {
    name: 'a javascript link',
    source: 'RFC 3986, 3.1',
    fails: ['link-schemes'],
    plant: (spec) => ({ html: htmlWith(spec, '<a href="javascript:void(0)">more</a>') }),
  },
  {
    name: 'an http link',
    source: 'RFC 9110, 4.2.2',
    fails: ['link-https'],
    plant: (spec) => ({ html: htmlWith(spec, '<a href="http://www.sender.test/x">more</a>') }),
  },
  {
    name: 'a subject in capitals',
    source: 'SpamAssassin: SUBJ_ALL_CAPS',
    fails: ['subject-style'],
    plant: (spec) => ({ fields: replaceField(spec, 'Subject', 'Subject: FREE MONEY TODAY') }),
  },
  // Bulk
  {
    name: 'List-Unsubscribe without brackets',
    source: 'RFC 2369, 2',
    fails: ['unsubscribe-syntax', 'one-click'],
    plant: (spec) => ({
      fields: replaceField(spec, 'List-Unsubscribe', 'List-Unsubscribe: https://www.sender.test/u'),
    }),
  },
  {
    name: 'List-Unsubscribe with mailto alone',
    source: 'Google Email sender guidelines',
    fails: ['one-click'],
    plant: (spec) => ({
      fields: replaceField(spec, 'List-Unsubscribe', 'List-Unsubscribe: <mailto:u@sender.test>'),
    }),
  },
  {
    name: 'List-Unsubscribe over http',
    source: 'RFC 8058, 3.1',
    fails: ['one-click'],
    plant: (spec) => ({
      fields: replaceField(
        spec,
        'List-Unsubscribe',
        'List-Unsubscribe: <http://www.sender.test/u>',
      ),
    }),
  },
  {
    name: 'a misspelled List-Unsubscribe-Post',
    source: 'RFC 8058, 3.1',
    fails: ['one-click'],
    plant: (spec) => ({
      fields: [
        ...replaceField(
          spec,
          'List-Unsubscribe',
          'List-Unsubscribe: <https://www.sender.test/u>',
        ).filter((field) => !/^list-unsubscribe-post/i.test(field)),
        'List-Unsubscribe-Post: One-Click',
      ],
    }),
  },
  {
    name: 'List-Unsubscribe outside the signature',
    source: 'RFC 8058, 4',
    fails: ['one-click-signed'],
    plant: (spec) => ({
      fields: replaceField(
        spec,
        'List-Unsubscribe',
        'List-Unsubscribe: <https://www.sender.test/u>',
      ),
      signatures: tagged({ h: 'from:from:to:subject:date' }),
    }),
  },
  {
    name: 'no link to unsubscribe in the text',
    source: 'Google Email sender guidelines',
    fails: ['unsubscribe-link'],
    plant: (spec) => ({
      fields: replaceField(
        spec,
        'List-Unsubscribe',
        'List-Unsubscribe: <https://www.sender.test/list/9>',
      ),
      text: (spec.text ?? '').replace(/Unsub.*\n/, ''),
      html: (spec.html ?? '').replace(/<p><a href="[^"]*\/u\/abc">Unsubscribe<\/a><\/p>/, ''),
    }),
  },
  {
    name: 'a List-Id without brackets',
    source: 'RFC 2919, 3',
    fails: ['list-id'],
    plant: (spec) => ({ fields: [...spec.fields, 'List-Id: news of the winter'] }),
  },
  {
    name: 'Precedence: junk',
    source: 'RFC 3834, 3.1.8',
    fails: ['precedence'],
    plant: (spec) => ({ fields: [...spec.fields, 'Precedence: junk'] }),
  },
]
