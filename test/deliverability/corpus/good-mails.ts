import { baseSpec, IP, newsletterSpec, SIGNATURE, type MailSpec } from './world.ts'

/** A mail without a fault that could cost its delivery. `hints`: checks that may fail all the same. */
export type GoodMail = { name: string; spec: MailSpec; hints?: string[] }

const order = (
  changes: Partial<MailSpec> | ((spec: MailSpec) => Partial<MailSpec>) = {},
): MailSpec => {
  const spec = baseSpec()
  return { ...spec, ...(typeof changes === 'function' ? changes(spec) : changes) }
}
const withField = (name: string, line: string) =>
  order((spec) => ({
    fields: [
      ...spec.fields.filter((field) => !field.toLowerCase().startsWith(`${name.toLowerCase()}:`)),
      line,
    ],
  }))
const signedAs = (tags: Record<string, string>) => [
  { ...SIGNATURE, tags: { ...SIGNATURE.tags, ...tags } },
]
const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const raw = (fields: string[], body: string) =>
  order({ raw: { fields, body: body.replaceAll(/\r?\n/g, '\r\n') } })

const LANGUAGES: [string, string, string][] = [
  ['German', 'Grüße aus Köln', 'Guten Tag, vielen Dank für Ihre Bestellung. Schöne Grüße.'],
  ['French', 'Votre commande à venir', 'Bonjour, merci pour votre commande. À bientôt, l’équipe.'],
  ['Polish', 'Zamówienie gotowe', 'Dzień dobry, dziękujemy za zamówienie. Pozdrawiamy, zespół.'],
  ['Greek', 'Η παραγγελία σας', 'Καλημέρα, ευχαριστούμε για την παραγγελία σας.'],
  ['Russian', 'Ваш заказ', 'Здравствуйте, спасибо за ваш заказ. С уважением.'],
  ['Japanese', 'ご注文について', 'ご注文いただきありがとうございます。明日発送いたします。'],
  ['Chinese', '您的订单', '您好，感谢您的订单。我们明天发货。'],
  ['Arabic', 'طلبك', 'مرحبا، شكرا لطلبك. سنرسله غدا.'],
  ['Hindi', 'आपका ऑर्डर', 'नमस्ते, आपके ऑर्डर के लिए धन्यवाद।'],
  ['Emoji', '🎉 Your order', 'Hello 👋, thank you for your order 🎁.'],
]

const languages: GoodMail[] = LANGUAGES.flatMap(([name, subject, text]) => [
  {
    name: `${name}, base64`,
    spec: {
      ...raw(
        [
          'MIME-Version: 1.0',
          'Content-Type: text/plain; charset=UTF-8',
          'Content-Transfer-Encoding: base64',
        ],
        `${Buffer.from(text).toString('base64').replaceAll(/.{76}/g, '$&\n')}\n`,
      ),
      fields: withField(
        'subject',
        `Subject: =?UTF-8?B?${Buffer.from(subject).toString('base64')}?=`,
      ).fields,
    },
  },
  {
    name: `${name}, quoted-printable`,
    spec: {
      ...raw(
        [
          'MIME-Version: 1.0',
          'Content-Type: text/plain; charset="utf-8"',
          'Content-Transfer-Encoding: quoted-printable',
        ],
        `${quotedPrintable(text)}\n`,
      ),
      fields: withField(
        'subject',
        `Subject: =?utf-8?q?${quotedPrintable(subject).replaceAll('=\n', '').replaceAll(' ', '_').replaceAll('?', '=3F')}?=`,
      ).fields,
    },
  },
])

function quotedPrintable(text: string): string {
  const encoded = Array.from(Buffer.from(text), (byte) =>
    byte > 126 || byte === 61 || byte === 63
      ? `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
      : String.fromCharCode(byte),
  )
  const lines: string[] = ['']
  for (const piece of encoded) {
    if ((lines.at(-1) ?? '').length + piece.length > 75) lines.push('')
    lines[lines.length - 1] += piece
  }
  return lines.join('=\n')
}

export const GOOD_MAILS: GoodMail[] = [
  { name: 'an order', spec: order() },
  { name: 'a newsletter', spec: newsletterSpec() },
  ...languages,
  { name: 'plain text alone', spec: order({ html: null }) },
  { name: 'plain text without MIME', spec: raw([], 'Hello,\n\nthis is a short note.\n') },
  {
    name: 'UTF-8 in the header with SMTPUTF8',
    spec: {
      ...withField('subject', latin1('Subject: Grüße')),
      connection: { ...baseSpec().connection, parameters: ['SMTPUTF8', 'BODY=8BITMIME'] },
    },
  },
  {
    name: 'text in Latin-1',
    spec: raw(
      [
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=iso-8859-1',
        'Content-Transfer-Encoding: 8bit',
      ],
      'Gr\u00fc\u00dfe aus K\u00f6ln.\n',
    ),
  },
  {
    name: 'text in Windows-1252',
    spec: raw(
      [
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=windows-1252',
        'Content-Transfer-Encoding: quoted-printable',
      ],
      'Gr=FC=DFe =96 aus K=F6ln.\n',
    ),
  },
  {
    name: 'text in Shift_JIS',
    spec: raw(
      [
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=shift_jis',
        'Content-Transfer-Encoding: base64',
      ],
      'grGC8YLJgr+CzQ==\n',
    ),
  },
  {
    name: 'format=flowed (Thunderbird)',
    spec: raw(
      [
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=UTF-8; format=flowed',
        'Content-Transfer-Encoding: 7bit',
      ],
      'Hello, \nthis is a text that flows.\n',
    ),
  },
  {
    name: 'an attached PDF',
    spec: order({
      attachments: [
        { name: 'invoice.pdf', type: 'application/pdf', content: Buffer.from('%PDF-1.7') },
      ],
    }),
  },
  {
    name: 'an attached calendar entry',
    spec: raw(
      ['MIME-Version: 1.0', 'Content-Type: multipart/alternative; boundary=cal'],
      '--cal\nContent-Type: text/plain; charset=utf-8\n\nAn invitation to a meeting.\n--cal\nContent-Type: text/calendar; charset=utf-8; method=REQUEST\n\nBEGIN:VCALENDAR\nEND:VCALENDAR\n--cal--\n',
    ),
  },
  {
    name: 'a signed message (S/MIME)',
    spec: raw(
      [
        'MIME-Version: 1.0',
        'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary="sm"',
      ],
      'This is a signed message.\n--sm\nContent-Type: text/plain; charset=utf-8\n\nHello.\n--sm\nContent-Type: application/pkcs7-signature; name=smime.p7s\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=smime.p7s\n\nMIIBAAAA\n--sm--\n',
    ),
  },
  {
    name: 'an encrypted message (PGP/MIME)',
    spec: raw(
      [
        'MIME-Version: 1.0',
        'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary="pg"',
      ],
      '--pg\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--pg\nContent-Type: application/octet-stream; name="encrypted.asc"\n\n-----BEGIN PGP MESSAGE-----\n--pg--\n',
    ),
    hints: ['body-empty'],
  },
  {
    name: 'a forwarded message',
    spec: raw(
      ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary="fw"'],
      '--fw\nContent-Type: text/plain\n\nSee below.\n--fw\nContent-Type: message/rfc822\n\nFrom: someone@other.test\nSubject: Before\n\nText.\n--fw--\n',
    ),
  },
  {
    name: 'a digest',
    spec: raw(
      ['MIME-Version: 1.0', 'Content-Type: multipart/digest; boundary="----next"'],
      '------next\n\nFrom: a@other.test\nSubject: One\n\nText.\n------next\n\nFrom: b@other.test\nSubject: Two\n\nText.\n------next--\n',
    ),
    hints: ['body-empty'],
  },
  {
    name: 'a bounce',
    spec: order((spec) => ({
      mailFrom: '',
      fields: spec.fields.map((field) =>
        field.replace('Anna Sender <anna@', 'Mail Delivery System <mailer-daemon@'),
      ),
      records: { 'mail.sender.test TXT': [`v=spf1 ip4:${IP} -all`] },
    })),
  },
  {
    name: 'DKIM alone, envelope of a service',
    spec: order({
      mailFrom: 'b@other.test',
      records: { 'other.test TXT': [`v=spf1 ip4:${IP} -all`] },
    }),
    hints: ['spf-aligned'],
  },
  {
    name: 'DKIM of a subdomain',
    spec: order({
      signatures: signedAs({ d: 'mail.sender.test' }),
      records: { 's1._domainkey.mail.sender.test TXT': ['v=DKIM1; p={rsa}'] },
    }),
  },
  {
    name: 'two signatures, RSA and Ed25519',
    spec: order({
      signatures: [SIGNATURE, { key: 'ed25519', tags: { ...SIGNATURE.tags, s: 'ed' } }],
      records: { 'ed._domainkey.sender.test TXT': ['v=DKIM1; k=ed25519; p={ed25519}'] },
    }),
  },
  {
    name: 'a signature of a service beside the own one',
    spec: order({
      signatures: [SIGNATURE, ...signedAs({ d: 'other.test' })],
      records: { 's1._domainkey.other.test TXT': ['v=DKIM1; p={rsa}'] },
    }),
  },
  {
    name: 'simple canonicalization, folded signature',
    spec: order({
      signatures: [{ isFolded: true, tags: { ...SIGNATURE.tags, c: 'simple/simple' } }],
    }),
  },
  {
    name: 'policy none',
    spec: order({ records: { '_dmarc.sender.test TXT': ['v=DMARC1; p=none'] } }),
    hints: ['dmarc-policy'],
  },
  {
    name: 'a From of a subdomain',
    spec: order((spec) => ({
      fields: spec.fields.map((field) =>
        field.replace('anna@sender.test', 'anna@news.sender.test'),
      ),
      records: {
        'news.sender.test MX': ['10 mail.sender.test'],
        'news.sender.test A': ['93.184.216.40'],
      },
    })),
  },
  { name: 'a greeting with its address', spec: order({ helo: `[${IP}]` }) },
  {
    name: 'a name with a comma and quotes',
    spec: withField('from', 'From: "Sender, Anna \\"Annie\\"" <anna@sender.test>'),
  },
  {
    name: 'a name in encoded words',
    spec: withField('from', 'From: =?utf-8?Q?Anna_M=C3=BCller?= <anna@sender.test>'),
  },
  { name: 'From with a comment', spec: withField('from', 'From: anna@sender.test (Anna Sender)') },
  {
    name: 'To and Cc',
    spec: order((spec) => ({
      fields: [...spec.fields, 'Cc: Bea <bea@other.test>, Carl <carl@other.test>'],
    })),
  },
  {
    name: 'an answer',
    spec: order((spec) => ({
      fields: [
        ...spec.fields.map((field) => field.replace('Subject: ', 'Subject: Re: ')),
        'In-Reply-To: <1@tests.test>',
        'References: <0@tests.test>\r\n <1@tests.test>',
      ],
    })),
  },
  {
    name: 'a Date with a comment',
    spec: withField('date', 'Date: Mon, 30 Nov 2026 09:59:50 +0100 (CET)'),
  },
  {
    name: 'a Date without a weekday, in GMT',
    spec: withField('date', 'Date: 30 Nov 2026 08:59:50 GMT'),
  },
  {
    name: 'a preheader',
    spec: order((spec) => ({
      html: (spec.html ?? '').replace(
        '<body>',
        '<body><div style="display:none;max-height:0">Your order is on its way.&#8199;&zwnj;&nbsp;&zwnj;</div>',
      ),
    })),
  },
  {
    name: 'styles, comments and conditional comments',
    spec: order((spec) => ({
      html: (spec.html ?? '').replace(
        '<html>',
        '<!doctype html><html><head><title>Order</title><style>a > b { color: red }\n</style><!--[if mso]><p>x</p><![endif]--></head>',
      ),
    })),
  },
  {
    name: 'a link whose text names its own domain',
    spec: order((spec) => ({
      html: (spec.html ?? '').replace('>Your order<', '>sender.test/orders<'),
    })),
  },
  {
    name: 'a link to a telephone and an address',
    spec: order((spec) => ({
      html: (spec.html ?? '').replace(
        '</body>',
        '<a href="tel:+49123">Call</a> <a href="mailto:anna@sender.test">Write</a></body>',
      ),
    })),
  },
  {
    name: 'an embedded image',
    spec: order((spec) => ({
      html: (spec.html ?? '').replace('</body>', '<img src="cid:logo@sender.test"></body>'),
    })),
  },
  {
    name: 'one list that cannot be queried',
    spec: order({ failures: { '*.bl.spamcop.net *': 'TIMEOUT' } }),
  },
  { name: 'a greeting in capitals', spec: order({ helo: 'MAIL.SENDER.TEST' }) },
  {
    name: 'a mailing list',
    spec: order((spec) => ({
      fields: [
        ...spec.fields,
        'List-Id: Friends <friends.sender.test>',
        'List-Unsubscribe: <mailto:friends-leave@sender.test>',
        'Precedence: list',
      ],
    })),
    hints: ['one-click', 'unsubscribe-link'],
  },
  {
    name: 'a receipt with a zip of a picture',
    spec: order({
      attachments: [
        {
          name: 'pictures.zip',
          type: 'application/zip',
          content: Buffer.from('PK\u0003\u0004nothing'),
        },
      ],
    }),
  },
  {
    name: 'IPv6',
    spec: order({
      ip: '2a00:1450:4001:82a::200e',
      records: {
        'sender.test TXT': ['v=spf1 ip6:2a00:1450:4001:82a::200e -all'],
        'e.0.0.2.0.0.0.0.0.0.0.0.0.0.0.0.a.2.8.0.1.0.0.4.0.5.4.1.0.0.a.2.ip6.arpa PTR': [
          'mail.sender.test',
        ],
        'mail.sender.test AAAA': ['2a00:1450:4001:82a::200e'],
      },
    }),
  },
]
