import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as secure } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTls } from '../../src/net/tls/starttls.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { swaks } from '../servers/swaks.ts'
import { aggregate, mailWith } from './reports.ts'
import { REPORT_DOMAIN, startDmarc, type Person, type DmarcTest } from './module.ts'

describe('the SMTP server with a certificate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-smtp-tls-'))
  const file = (name: string) => join(folder, name)
  let portreeve: DmarcTest
  let alice: Person

  beforeAll(async () => {
    const ca = makeCertificate({ subject: '/CN=Test root', isCa: true })
    const { key, cert } = makeCertificate({
      subject: `/CN=${REPORT_DOMAIN}`,
      altNames: [`DNS:${REPORT_DOMAIN}`, 'IP:127.0.0.1'],
      issuer: ca,
    })
    for (const [name, text] of Object.entries({
      'ca.pem': ca.cert,
      'key.pem': key,
      'cert.pem': cert,
    })) {
      writeFileSync(file(name), text)
    }
    const env = { SMTP_TLS_CERT: file('cert.pem'), SMTP_TLS_KEY: file('key.pem') }
    portreeve = await startDmarc({ env })
    alice = await portreeve.addPerson('Alice')
  })
  afterAll(async () => {
    await portreeve.stop()
    rmSync(folder, { recursive: true })
  })

  it('accepts a report over STARTTLS with the configured certificate', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const mail = mailWith({ attachment: aggregate({ id: 'encrypted' }) })
    const verified = ['--tls', '--tls-verify', '--tls-ca-path', file('ca.pem')]
    const { code, transcript } = await swaks(portreeve.smtpPort, reportEmail, mail, ...verified)
    expect(code, transcript).toBe(0)
    expect(transcript).toMatch(/TLS started with cipher TLSv1\.[23]/)
    expect(transcript).toContain(`CN=${REPORT_DOMAIN}`)
    const { reports } = (await portreeve.ask(`domains/${id}/reports`, alice)).body.data
    expect(reports).toMatchObject([{ reportId: 'encrypted', via: 'smtp' }])
  })

  it('accepts hybrid key exchange, which our own connections do not offer', async () => {
    const socket = connect(portreeve.smtpPort, '127.0.0.1')
    await startTls('smtp', socket, AbortSignal.timeout(10_000))
    const secured = secure({ socket, ecdhCurve: 'X25519MLKEM768', rejectUnauthorized: false })
    await once(secured, 'secureConnect')
    expect(secured.getProtocol()).toBe('TLSv1.3')
    secured.destroy()
  })

  it('does not relay over STARTTLS, and still accepts mail without it', async () => {
    const { reportEmail } = await portreeve.addDomain(alice.token, 'plain.test')
    const mail = mailWith({ attachment: aggregate({ domain: 'plain.test' }) })
    const relayed = await swaks(portreeve.smtpPort, 'victim@elsewhere.test', mail, '--tls')
    expect(relayed.code, relayed.transcript).toBe(24)
    expect(relayed.transcript).toMatch(/<~\* 5\d\d/)
    const plain = await swaks(portreeve.smtpPort, reportEmail, mail)
    expect(plain.code, plain.transcript).toBe(0)
  })
})
