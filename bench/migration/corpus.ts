import { createAppender, type AppendMessage } from '../../src/net/imap/append/append.ts'
import { groupIntoBatches } from '../../src/net/imap/append/message-batches.ts'
import { createFolder } from '../../src/net/imap/folders/create-folder.ts'
import { encodeMailbox } from '../../src/net/imap/folders/mailbox-name.ts'
import { select } from '../../src/net/imap/folders/mailbox.ts'
import type { Session } from '../../src/net/imap/connection/imap-session.ts'

/** Share of all messages by folder, as in a typical mailbox with some filed mail. */
const FOLDERS = {
  INBOX: 0.45,
  Sent: 0.2,
  'Archive/2024': 0.15,
  'Archive/2025': 0.1,
  'Projekte/Größe': 0.05,
  Trash: 0.05,
}
/**
 * Share, and bytes from and to: most mail is small, most bytes are attachments. The mean is about
 * 57 kB.
 */
const SIZES = [
  [0.5, 2_000, 12_000],
  [0.25, 12_000, 40_000],
  [0.15, 40_000, 120_000],
  [0.09, 120_000, 400_000],
  [0.01, 500_000, 2_500_000],
] as const
const FLAGS = [
  ['\\Seen', 0.8],
  ['\\Answered', 0.2],
  ['\\Flagged', 0.05],
  ['$Forwarded', 0.04],
  ['$Label1', 0.03],
] as const

export type Corpus = { messages: number; bytes: number; folders: string[] }

/** Fills an empty account, the same way for the same numbers. Folders are made as needed. */
export async function fillAccount(session: Session, messages: number): Promise<Corpus> {
  const counts = Object.entries(FOLDERS).map(
    ([folder, share]) => [folder, Math.round(messages * share)] as const,
  )
  return fillFolders(session, new Map(counts), { messages })
}

type FillOptions = {
  /** Of the random numbers. */
  messages: number
  /** Bytes of a message, in place of the usual sizes. */
  size?: number
}

/** Fills folders with so many messages each. */
export async function fillFolders(
  { wire }: Session,
  folders: ReadonlyMap<string, number>,
  { messages, size }: FillOptions,
): Promise<Corpus> {
  const random = randomFrom(messages)
  let bytes = 0
  for (const [folder, count] of folders) {
    const name = encodeMailbox(folder)
    await createFolder(wire, name)
    const { permanentFlags } = await select(wire, name)
    const appender = createAppender(wire, name, { permanentFlags })
    const sizes = () => size ?? sizeFrom(random)
    for await (const batch of groupIntoBatches(mails(count, folder, sizes, random), {
      messages: 200,
      bytes: 4e6,
    })) {
      const { outcomes } = await appender.submit(batch)
      const refused = (await outcomes).find(({ state }) => state !== 'stored')
      if (refused) throw new Error(`the corpus was refused: ${JSON.stringify(refused)}`)
      bytes += batch.reduce((sum, each) => sum + each.size, 0)
    }
  }
  return { messages, bytes, folders: [...folders.keys()] }
}

async function* mails(
  count: number,
  folder: string,
  sizes: () => number,
  random: () => number,
): AsyncGenerator<AppendMessage> {
  for (let index = 0; index < count; index++) {
    const body = mailOf(`${folder}-${index}`.replace(/[^\w-]/g, '_'), sizes(), random)
    const flags = FLAGS.filter(([, share]) => random() < share).map(([flag]) => flag)
    yield { size: body.length, body, flags, internalDate: dateFrom(random) }
  }
}

function mailOf(id: string, size: number, random: () => number): Buffer {
  const head = [
    'Return-Path: <someone@example.org>',
    'Received: from mx.example.org (mx.example.org [192.0.2.25]) by mail.example.com with ESMTPS; Mon, 1 Jul 2024 08:09:10 +0200',
    'From: Someone <someone@example.org>',
    'To: Somebody <somebody@example.com>',
    `Subject: About ${id}`,
    `Message-ID: <${id}.${Math.floor(random() * 1e12).toString(36)}@example.org>`,
    'Date: Mon, 1 Jul 2024 08:09:10 +0200',
    'MIME-Version: 1.0',
    'Content-Type: application/octet-stream',
    'Content-Transfer-Encoding: base64',
    '',
    '',
  ].join('\r\n')
  const lines = Math.max(1, Math.ceil((size - head.length) / 78))
  const line = `${Buffer.from(Array.from({ length: 57 }, () => Math.floor(random() * 256))).toString('base64')}\r\n`
  return Buffer.from(head + line.repeat(lines))
}

function sizeFrom(random: () => number): number {
  let rest = random()
  const [, from, to] = SIZES.find(([share]) => (rest -= share) < 0) ?? SIZES[0]
  return Math.round(from + (to - from) * random())
}

function dateFrom(random: () => number): string {
  const date = new Date(Date.UTC(2015, 0, 1) + random() * 3.4e11)
  const [day = '', month = '', year = '', time = ''] = date.toUTCString().split(' ').slice(1)
  return `${day.padStart(2)}-${month}-${year} ${time} +0000`
}

/** Mulberry32: small, fast and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
