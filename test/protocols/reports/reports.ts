import { deflateRawSync, gzipSync } from 'node:zlib'

type Report = { head?: string; metadata?: string; policy?: string; records?: string; root?: string }

const METADATA = `<org_name>receiver.example</org_name><email>dmarc@receiver.example</email><report_id>r-1</report_id>
  <date_range><begin>1763596800</begin><end>1763683199</end></date_range>`
const POLICY = '<domain>example.com</domain><p>none</p>'

/** One record; `row` replaces address and count. */
export function record({
  row = '<source_ip>192.0.2.1</source_ip><count>2</count>',
  evaluated = '<disposition>none</disposition><dkim>pass</dkim><spf>fail</spf>',
  identifiers = '<header_from>example.com</header_from>',
  results = '<spf><domain>example.com</domain><result>fail</result></spf>',
} = {}): string {
  return `<record><row>${row}<policy_evaluated>${evaluated}</policy_evaluated></row>
    <identifiers>${identifiers}</identifiers><auth_results>${results}</auth_results></record>\n`
}

/** A report of example.com, as text. */
export function reportXml({
  head = '<?xml version="1.0" encoding="UTF-8"?>\n',
  metadata = METADATA,
  policy = POLICY,
  records = record(),
  root = 'feedback',
}: Report = {}): string {
  return `${head}<${root}><report_metadata>${metadata}</report_metadata>
<policy_published>${policy}</policy_published>\n${records}</${root.split(' ')[0]}>`
}

/** A report of `count` records of some 500 bytes each, piece by piece. */
export async function* manyRecords(count: number): AsyncGenerator<Uint8Array> {
  const [before = '', after = ''] = reportXml({ records: '…' }).split('…')
  yield Buffer.from(before)
  for (let done = 0; done < count; done += 1_000) {
    const records = Array.from({ length: Math.min(1_000, count - done) }, (_, n) =>
      numbered(done + n),
    )
    yield Buffer.from(records.join(''))
  }
  yield Buffer.from(after)
}

function numbered(n: number): string {
  const address = `203.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
  const dkim = `<dkim><domain>example.com</domain><selector>s${n % 7}</selector><result>pass</result></dkim>`
  return record({
    row: `<source_ip>${address}</source_ip><count>${(n % 9) + 1}</count>`,
    results: `${dkim}<spf><domain>bounce.example.com</domain><result>pass</result></spf>`,
  })
}

/** A mail with attachments as they are given, each with its own header fields. */
export function mailWith(
  parts: { fields: string; body: string }[],
  { subject = 'A report', fields = '', boundary = '=_b' } = {},
): Buffer {
  const lines = parts.flatMap((part) => [`--${boundary}`, part.fields, '', part.body])
  const top = `From: Reporter <DMARC@Receiver.example>\nSubject: ${subject}\nMIME-Version: 1.0\n${fields}`
  const type = `Content-Type: multipart/mixed; boundary="${boundary}"`
  return Buffer.from(
    [`${top}${type}`, '', ...lines, `--${boundary}--`, ''].join('\n').replaceAll(/\r?\n/g, '\r\n'),
  )
}

/** A part in base64. */
export function attached(bytes: Uint8Array, fields = 'Content-Type: application/octet-stream') {
  const body = Buffer.from(bytes).toString('base64').replaceAll(/.{76}/g, '$&\n')
  return { fields: `${fields}\nContent-Transfer-Encoding: base64`, body }
}

type ZipFile = {
  name: string
  bytes: Uint8Array
  flags?: number
  method?: number
  claimedSize?: number
}

/** A zip archive, whose headers may be false. */
export function zip(files: ZipFile[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, bytes, flags = 0, method = 8, claimedSize = bytes.length } of files) {
    const data = method === 0 ? bytes : deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(claimedSize, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), data])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(
      Buffer.concat([
        Buffer.from('PK\u0001\u0002'),
        Buffer.from([20, 0]),
        common,
        rest,
        Buffer.from(name),
      ]),
    )
    locals.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, listed, Buffer.from('PK\u0005\u0006'), end])
}

export function gzip(text: string | Uint8Array): Buffer {
  return gzipSync(text)
}
