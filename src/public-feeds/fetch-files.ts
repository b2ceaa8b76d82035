import { Fault } from '../errors.ts'
import { retryAfterSeconds } from '../net/http/retry-after.ts'
import { DAY_SECONDS } from '../time.ts'
import type { GuardedFetch } from '../net/http/guarded-fetch.ts'
import type { Validators } from './public-feeds.sql.ts'

/** The files of a feed; null when none of them has changed. */
export type FeedFiles = { texts: string[]; validators: Validators } | null

const MAX_REDIRECTS = 3

/**
 * Downloads the files of a feed, unless its provider says that none has changed.
 * @throws Fault `upstream_unreachable`, `upstream_timeout`, `upstream_rejected`; with `retryAfter`
 *   where the provider names a time
 */
export async function fetchFiles(
  urls: readonly string[],
  known: Validators,
  deps: { request: GuardedFetch; signal: AbortSignal },
): Promise<FeedFiles> {
  const answers: (FetchedFile | null)[] = []
  for (const url of urls) answers.push(await fetchFile(url, known[url], deps))
  if (answers.every((answer) => answer === null)) return null
  const texts: string[] = []
  const validators: Validators = {}
  for (const [index, url] of urls.entries()) {
    // Another part has changed, so that this one is needed, too.
    const file = answers[index] ?? (await fetchFile(url, undefined, deps))
    if (!file) throw new Fault('upstream_rejected', `${hostOf(url)} sent no content.`)
    texts.push(file.text)
    validators[url] = file.validators
  }
  return { texts, validators }
}

type FetchedFile = { text: string; validators: Validators[string] }

async function fetchFile(
  url: string,
  known: Validators[string] | undefined,
  { request, signal }: { request: GuardedFetch; signal: AbortSignal },
): Promise<FetchedFile | null> {
  const headers = {
    accept: 'text/plain, application/json;q=0.9, */*;q=0.1',
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
  }
  let target = url
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await request(target, { headers, signal })
    if (response.status === 304 && known) return null
    if (response.status === 200) return { text: await readText(response), ...validatorsOf(response) } // prettier-ignore
    target = redirectOf(response, target) ?? ''
    if (target === '') throw refusal(response, url)
  }
  throw new Fault('upstream_rejected', `${hostOf(url)} redirects too often.`)
}

/** @throws Fault for bytes that are not UTF-8 */
async function readText(response: Response): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await response.arrayBuffer())
  } catch (cause) {
    throw new Fault('upstream_rejected', 'The file is not text.', { cause })
  }
}

function validatorsOf({ headers }: Response): Pick<FetchedFile, 'validators'> {
  const [etag, lastModified] = [headers.get('etag'), headers.get('last-modified')]
  return { validators: { ...(etag && { etag }), ...(lastModified && { lastModified }) } }
}

/** The URL of a redirect, which must not lead from HTTPS to HTTP. */
function redirectOf({ status, headers }: Response, from: string): string | null {
  const location = headers.get('location')
  if (status < 301 || status > 308 || location === null || !URL.canParse(location, from))
    return null
  const url = new URL(location, from)
  const isAllowed = url.protocol === 'https:' || url.protocol === new URL(from).protocol
  return isAllowed ? url.href : null
}

function refusal(response: Response, url: string): Fault {
  const seconds = retryAfterSeconds(response.headers.get('retry-after'))
  const retryAfter = seconds ? Math.min(seconds, DAY_SECONDS) : undefined
  return new Fault('upstream_rejected', `${hostOf(url)} returned HTTP status ${response.status}.`, {
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

const hostOf = (url: string) => new URL(url).host
