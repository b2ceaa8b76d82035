import { readFile, stat } from 'node:fs/promises'
import { Fault, messageOf } from '../../errors.ts'
import { findContradiction } from '../../migration/proof/check-document.ts'
import type { ProofDocument, ProofTotals, Reason } from '../../migration/proof/proof-document.ts'
import { PROOF_LIMITS } from '../../migration/proof/limits.ts'
import {
  LEVEL_TEXTS,
  reasonText,
  describeVerdict,
  isEmptyProof,
} from '../../migration/proof/messages.ts'
import { isSameKey, verifyFile, type VerifiedFile } from '../../migration/proof/signed-file.ts'
import { askService } from '../../net/http/event-stream.ts'
import { SECOND_MS } from '../../time.ts'
import { UsageError } from '../command.ts'
import { serviceUrl, urlOf } from '../service-access.ts'
import { paint, sanitizeForTerminal, table } from '../terminal-text.ts'

const SERVER_TIMEOUT_MS = 15 * SECOND_MS

const UNKNOWN_SIGNER = 'The signature fits the file, but the signer is unknown.'

type VerifyFlags = { key?: string | undefined; server?: string | undefined }

/**
 * Verifies a proof and prints what it says.
 * @returns the exit code: 0 valid, 1 changed, cut, or signed by another or an unknown key
 */
export async function verifyProof(
  file: string,
  flags: VerifyFlags,
  json: boolean,
): Promise<number> {
  if (flags.key !== undefined && flags.server !== undefined)
    throw new UsageError('Give either --key or --server.')
  const bytes = await readProof(file)
  const expected = await expectedKey(flags)
  try {
    const verified = verifyFile(bytes)
    if (expected !== null && !isSameKey(expected, verified))
      throw new Fault(
        'invalid_request',
        `The file was signed with another key: ${verified.fingerprint}.`,
      )
    const contradiction = contradictionIn(verified)
    if (contradiction !== null) throw new Fault('invalid_request', contradiction)
    print(verified, expected !== null, json)
    return expected === null ? 1 : 0
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (json) console.log(JSON.stringify({ success: false, error: error.message }))
    else console.error(paint('red', error.message, process.stderr))
    return 1
  }
}

/** Anybody can sign a file, whatever it contains. */
function contradictionIn({ document }: VerifiedFile): string | null {
  try {
    factsOf(document)
    return findContradiction(document)
  } catch (error) {
    if (error instanceof TypeError) return 'The file does not have the contents of a proof.'
    throw error
  }
}

async function readProof(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file)
    if (size > PROOF_LIMITS.maxFileBytes) throw new UsageError(`${file} is too large for a proof.`)
    return await readFile(file)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} could not be read: ${messageOf(error)}.`)
  }
}

/** Null when no key was given. */
async function expectedKey({ key, server }: VerifyFlags): Promise<string | null> {
  if (server === undefined) return key ?? null
  const url = serviceUrl(urlOf(server, '--server'), '/api/v1/imap/proof-key')
  const { data } = await askService<{ data: { publicKey: string } }>(
    url,
    null,
    AbortSignal.timeout(SERVER_TIMEOUT_MS),
    'data',
  )
  return data.publicKey
}

function print(verified: VerifiedFile, isKnown: boolean, json: boolean): void {
  const { document, digest, publicKey, fingerprint } = verified
  if (json) {
    const data = {
      signer: isKnown ? 'known' : 'unknown',
      publicKey,
      fingerprint,
      digest,
      proof: document,
    }
    console.log(
      JSON.stringify(
        isKnown ? { success: true, data } : { success: false, error: UNKNOWN_SIGNER, data },
      ),
    )
    return
  }
  const lines = isKnown
    ? [paint('green', 'The signature is valid, and the key is the one you gave.')]
    : [
        paint('yellow', UNKNOWN_SIGNER),
        'Anybody can sign a file with a key of their own. Compare the fingerprint with the one',
        'that the service shows, or give --key or --server.',
      ]
  console.log(lines.join('\n'))
  console.log(
    table([['Key', fingerprint], ['Document', `SHA-256 ${digest}`], ...factsOf(document)]),
  )
  console.log(paint(toneOf(document), describeVerdict(document)))
}

function toneOf({ verdict, totals }: ProofDocument): 'red' | 'yellow' | 'green' {
  if (verdict === 'incomplete') return 'red'
  return isEmptyProof(totals) ? 'yellow' : 'green'
}

function factsOf(document: ProofDocument): string[][] {
  const facts = document.kind === 'mailbox' ? mailboxFacts(document) : batchFacts(document)
  const rows = [['Made by', document.madeBy], ...facts, ...totalsFacts(document.totals)]
  return rows.map((row) => row.map(sanitizeForTerminal))
}

type Of<K extends ProofDocument['kind']> = Extract<ProofDocument, { kind: K }>

function mailboxFacts(proof: Of<'mailbox'>): string[][] {
  const nameOf = ({ user, host, port }: typeof proof.source) => `${user} on ${host}:${port}`
  return [
    ['Source', nameOf(proof.source)],
    ['Destination', nameOf(proof.destination)],
    ['Compared', LEVEL_TEXTS[proof.level]],
    ['Read', `${proof.readFrom} to ${proof.readUntil}`],
    ['Folders', numberText(proof.folders.length)],
    ...reasonFacts('Kept', proof.changes),
    ...reasonFacts('Missing', proof.missing),
    ...reasonFacts('Additional', proof.additional),
    ...proof.leftOut.map(({ folder, messages }) => [
      'Not selected',
      `${folder} (${messages === null ? 'not counted' : numberText(messages)})`,
    ]),
  ]
}

function batchFacts({ batch, mailboxes, readUntil }: Of<'batch'>): string[][] {
  const counts = Object.groupBy(mailboxes, ({ verdict }) => verdict)
  return [
    ['Batch', batch.name],
    ['Read', `until ${readUntil ?? 'never'}`],
    ['Mailboxes', numberText(mailboxes.length)],
    ...Object.entries(counts).map(([verdict, all]) => [`  ${verdict}`, numberText(all.length)]),
    ...mailboxes.flatMap(({ source, problem, missing, verdict }) =>
      verdict === 'incomplete'
        ? [['  ', `${source}: ${problem ?? missing.map(textOf).join(', ')}`]]
        : [],
    ),
  ]
}

function totalsFacts({ source, kept, additional }: ProofTotals): string[][] {
  const textOfSum = ({ messages, bytes }: typeof source) =>
    `${numberText(messages)} messages, ${numberText(bytes)} bytes`
  return [
    ['At the source', textOfSum(source)],
    ['', `digest ${source.digest}`],
    ['Kept', textOfSum(kept)],
    ['', `digest ${kept.digest}`],
    ['Additional', textOfSum(additional)],
  ]
}

function reasonFacts(label: string, reasons: readonly Reason[]): string[][] {
  return reasons.map((reason) => [label, textOf(reason)])
}

function textOf({ reason, messages }: Reason): string {
  return `${numberText(messages)} ${reasonText(reason)}`
}

function numberText(number: number): string {
  return number.toLocaleString('en-US')
}
