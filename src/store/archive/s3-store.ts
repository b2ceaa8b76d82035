import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'
import { Fault, messageOf } from '../../errors.ts'
import type { BackupArchive } from '../../setting-values.ts'
import { MINUTE_MS } from '../../time.ts'
import type { ObjectStore, StoredObject } from './object-store.ts'
import { parseS3, type S3Document } from './s3-xml.ts'

export type S3Options = Omit<Extract<BackupArchive, { kind: 's3' }>, 'kind'>

/** An upload in parts may have 10,000 of them: 160 GB. */
const PART_BYTES = 16 * 1024 * 1024
const REQUEST_MS = 5 * MINUTE_MS
const RETRIES = 4
const CONCURRENT_DELETES = 8

type Query = Record<string, string>
type Sent = { query?: Query; body?: Uint8Array; headers?: Record<string, string> }

/** Requests that have the same effect when they are sent twice. */
const REPEATABLE = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Errors of a connection that was closed before a response. */
const CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** `fetch` wraps the error of the connection. */
const causeOf = (error: unknown) => (error instanceof Error && error.cause) || error

function isClosed(error: unknown): boolean {
  const cause = causeOf(error)
  return cause instanceof Error && 'code' in cause && CLOSED.has(String(cause.code))
}

/** An archive in a bucket of S3 or a compatible store, with addresses in path style. */
export function openS3Store(options: S3Options): ObjectStore {
  const { bucket, prefix, endpoint, region, accessKeyId, secretAccessKey } = options
  const name = `s3://${bucket}${prefix && `/${prefix}`}`
  const root = prefix && `${prefix}/`
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    retries: RETRIES,
  })

  async function send(method: string, key: string, { query = {}, body, headers = {} }: Sent = {}) {
    const url = new URL(endpoint)
    const path = key === '' ? bucket : `${bucket}/${root}${key}`
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`
    url.search = new URLSearchParams(query).toString()
    // The store compares the digest with what it received.
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const attempt = () =>
      client.fetch(url.href, {
        method,
        ...(body && { body: Buffer.from(body) }),
        headers: { ...headers, 'x-amz-content-sha256': digest },
        signal: AbortSignal.timeout(REQUEST_MS),
      })
    try {
      return await attempt().catch((error: unknown) => {
        // The store may close an idle connection at the moment it is used.
        if (isClosed(error) && REPEATABLE.has(method)) return attempt()
        throw error
      })
    } catch (cause) {
      throw new Fault('unavailable', `${name} cannot be reached: ${messageOf(causeOf(cause))}.`, {
        cause,
      })
    }
  }

  async function call(method: string, key: string, sent?: Sent): Promise<Response> {
    const response = await send(method, key, sent)
    if (response.ok) return response
    throw await failureOf(response)
  }

  async function failureOf(response: Response): Promise<Fault> {
    const document = parseS3(await response.text().catch(() => ''))
    const reason = document.text('Message') || document.text('Code') || `status ${response.status}`
    const cause = Object.assign(new Error(reason), response.status === 404 && { code: 'ENOENT' })
    return new Fault('unavailable', `${name} refused a request: ${reason}`, { cause })
  }

  const read = async (method: string, key: string, sent?: Sent): Promise<S3Document> => {
    const document = parseS3(await (await call(method, key, sent)).text())
    // An upload can fail after the status of success was sent.
    if (document.root !== 'Error') return document
    throw new Fault('unavailable', `${name} refused a request: ${document.text('Message')}`)
  }

  async function listPages(query: Query): Promise<S3Document[]> {
    const pages: S3Document[] = []
    let token = ''
    do {
      const page = await read('GET', '', {
        query: {
          'list-type': '2',
          ...query,
          prefix: root + (query['prefix'] ?? ''),
          ...(token && { 'continuation-token': token }),
        },
      })
      pages.push(page)
      token = page.text('IsTruncated') === 'true' ? page.text('NextContinuationToken') : ''
    } while (token !== '')
    return pages
  }

  async function upload(key: string, body: Readable): Promise<number> {
    const uploadId = (await read('POST', key, { query: { uploads: '' } })).text('UploadId')
    const tags: string[] = []
    let bytes = 0
    try {
      for await (const part of partsOf(body)) {
        const query = { partNumber: String(tags.length + 1), uploadId }
        const response = await call('PUT', key, { query, body: part })
        tags.push(response.headers.get('etag') ?? '')
        bytes += part.length
      }
      const parts = tags.map(
        (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
      )
      const complete = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      await read('POST', key, { query: { uploadId }, body: Buffer.from(complete) })
      return bytes
    } catch (error) {
      await send('DELETE', key, { query: { uploadId } }).catch(() => {})
      throw error
    }
  }

  return {
    name,
    async list(keys) {
      const pages = await listPages({ prefix: keys })
      return pages
        .flatMap((page) => page.all('Contents'))
        .map((entry): StoredObject => ({
          key: (entry['Key'] ?? '').slice(root.length),
          bytes: Number(entry['Size']),
        }))
        .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    },
    async listFolders() {
      const pages = await listPages({ delimiter: '/' })
      return pages
        .flatMap((page) => page.all('CommonPrefixes'))
        .map((entry) => (entry['Prefix'] ?? '').slice(root.length, -1))
        .toSorted()
    },
    async create(key, body) {
      // Not every store knows the condition of the request below.
      const found = await send('HEAD', key)
      if (found.ok) return false
      if (found.status !== 404) throw await failureOf(found)
      const response = await send('PUT', key, { body, headers: { 'if-none-match': '*' } })
      if (response.status === 412) return false
      if (response.status === 501) await call('PUT', key, { body })
      else if (!response.ok) throw await failureOf(response)
      return true
    },
    write: upload,
    async read(key) {
      const { body } = await call('GET', key)
      return body ? Readable.fromWeb(body) : Readable.from([])
    },
    async remove(keys) {
      for (let index = 0; index < keys.length; index += CONCURRENT_DELETES)
        await Promise.all(
          keys.slice(index, index + CONCURRENT_DELETES).map((key) => call('DELETE', key)),
        )
    },
  }
}

/** Cuts a stream into parts of equal size; the last one is smaller. */
async function* partsOf(body: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    let rest = chunk
    while (bytes + rest.length >= PART_BYTES) {
      const missing = PART_BYTES - bytes
      yield Buffer.concat([...chunks, rest.subarray(0, missing)])
      rest = rest.subarray(missing)
      chunks = []
      bytes = 0
    }
    if (rest.length > 0) chunks.push(rest)
    bytes += rest.length
  }
  if (bytes > 0) yield Buffer.concat(chunks)
}
