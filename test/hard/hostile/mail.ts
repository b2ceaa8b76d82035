import { connect, type Socket } from 'node:net'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { mailWith } from '../../dmarc/reports.ts'
import { flood, trickle } from './flows.ts'

type Act = (socket: Socket) => void

/** Attacks by SMTP clients after the greeting, each on a separate connection. */
export function hostileClients(to: string): Record<string, Act> {
  const envelope = `EHLO x\r\nMAIL FROM:<a@receiver.test>\r\nRCPT TO:<${to}>\r\nDATA\r\n`
  const sends = (mail: string): Act => {
    const whole = `${envelope}${mail}\r\n.\r\nQUIT\r\n`
    return (socket) => void socket.write(whole)
  }
  return {
    'commands of one byte a second': (socket) =>
      trickle(socket, 'EHLO a.very.long.name.test\r\n', 1_000),
    'a line without end': (socket) => flood(socket, Buffer.alloc(65_536, 'x')),
    'ten thousand recipients': (socket) => {
      socket.write('EHLO x\r\nMAIL FROM:<a@receiver.test>\r\n')
      for (let n = 0; n < 10_000; n++)
        socket.write(`RCPT TO:<${n % 2 ? to : `nobody${n}@receiver.test`}>\r\n`)
    },
    'a mail without end': (socket) => {
      socket.write(envelope)
      flood(socket, Buffer.alloc(65_536, `${'x'.repeat(70)}\r\n`))
    },
    'a mail of one byte a second': (socket) => {
      socket.write(envelope)
      trickle(socket, 'x', 1_000)
    },
    'a header without end': (socket) => {
      socket.write(envelope)
      flood(socket, Buffer.alloc(65_536, 'x'))
    },
    'nested parts': sends(nested(5_000)),
    'a zip bomb': sends(
      mailWith({ attachment: zipBomb(), type: 'application/zip', fileName: 'a!b!1!2.zip' }),
    ),
    'a gzip bomb': sends(mailWith({ attachment: gzipSync(bomb()) })),
    'an XML of entities': sends(mailWith({ attachment: LAUGHS })),
  }
}

/** A report that begins correctly and continues with 500 MB of nothing. */
function bomb(): Buffer {
  const bytes = Buffer.alloc(500_000_000, ' ')
  bytes.write('<?xml version="1.0"?><feedback>')
  return bytes
}

const LAUGHS = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">${Array.from(
  { length: 12 },
  (_, n) => `<!ENTITY ${'bcdefghijklm'[n]} "${`&${'abcdefghijkl'[n]};`.repeat(10)}">`,
).join('')}]><feedback>&m;</feedback>`

/** An archive that declares 4 GB and contains 500 MB. */
function zipBomb(): Buffer {
  const packed = deflateRawSync(bomb())
  const name = Buffer.from('a!b!1!2.xml')
  const sizes = (into: Buffer, at: number) => {
    into.writeUInt32LE(packed.length, at)
    into.writeUInt32LE(4_000_000_000, at + 4)
  }
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(8, 8)
  sizes(local, 18)
  local.writeUInt16LE(name.length, 26)
  const central = Buffer.alloc(46)
  central.writeUInt32LE(0x02014b50, 0)
  central.writeUInt16LE(8, 10)
  sizes(central, 20)
  central.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length + name.length, 12)
  end.writeUInt32LE(local.length + name.length + packed.length, 16)
  return Buffer.concat([local, name, packed, central, name, end])
}

function nested(depth: number): string {
  const lines = [
    'From: noreply@receiver.test',
    'Subject: Report domain: example.test',
    'MIME-Version: 1.0',
  ]
  for (let n = 0; n < depth; n++)
    lines.push(`Content-Type: multipart/mixed; boundary="b${n}"`, '', `--b${n}`)
  return lines.join('\r\n')
}

/** @param from a different local address for each, so that no limit is shared */
export function beHostile(port: number, from: string, act: Act): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.on('error', () => {}).resume()
  socket.once('data', () => act(socket))
  return socket
}
