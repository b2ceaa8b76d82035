import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { localhostCertificate } from './mail-server.ts'

export type Postfix = {
  /** Takes mail from this machine for everyone, signs it, and passes it on. */
  port: number
  /** The `p` of the key that OpenDKIM signs with, as `s1` of the domain. */
  publicKey: string
  log(): string
  stop(): Promise<void>
}

/**
 * Debian’s Postfix with OpenDKIM, as the mail server of a domain. Both need root.
 * @param relayPort the SMTP server of this machine that gets all its mail
 */
export async function startPostfix(domain: string, relayPort: number): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-postfix-'))
  chmodSync(folder, 0o755)
  const [port, milterPort] = [await freePort(), await freePort()]
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(join(folder, 'opendkim.conf'), openDkimConfiguration(folder, domain, milterPort))
  const signer = spawn('/usr/sbin/opendkim', ['-f', '-x', join(folder, 'opendkim.conf')], {
    stdio: 'ignore',
  })
  const config = join(folder, 'config')
  mkdirSync(config)
  mkdirSync(join(folder, 'queue'))
  writeFileSync(
    join(config, 'main.cf'),
    mainConfiguration(folder, { domain, relayPort, milterPort }),
  )
  writeFileSync(join(config, 'master.cf'), servicesOf(port))
  const postfix = (command: string) =>
    execFileSync('/usr/sbin/postfix', ['-c', config, command], { stdio: 'ignore' })
  const stop = async () => {
    try {
      postfix('stop')
    } catch {
      // It never started.
    }
    if (signer.exitCode === null && signer.kill()) await once(signer, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await listening(milterPort)
    postfix('start')
    await listening(port)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    port,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    log: () => readFileSync(join(folder, 'mail.log'), 'utf8'),
    stop,
  }
}

/** Debian’s Postfix as a submission server (RFC 6409) with STARTTLS. It needs root. */
export type SubmissionPostfix = { port: number; log(): string; stop(): Promise<void> }

/**
 * @param authPort of Dovecot’s authentication
 * @param lmtpPort of the server that gets all mail, besides that for `lost@…`, which is dropped, and
 *   for `refused@…`, which is rejected
 */
export async function startSubmission({
  authPort,
  lmtpPort,
}: {
  authPort: number
  lmtpPort: number
}): Promise<SubmissionPostfix> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-submission-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const config = join(folder, 'config')
  mkdirSync(config)
  mkdirSync(join(folder, 'queue'))
  const { cert, key } = localhostCertificate()
  writeFileSync(join(folder, 'tls.pem'), key + cert)
  writeFileSync(join(config, 'main.cf'), submissionConfiguration(folder, { authPort, lmtpPort }))
  writeFileSync(join(config, 'master.cf'), `${servicesOf(port)}lmtp unix - - n - - lmtp\n`)
  const postfix = (command: string) =>
    execFileSync('/usr/sbin/postfix', ['-c', config, command], { stdio: 'ignore' })
  const stop = async () => {
    try {
      postfix('stop')
    } catch {
      // It never started.
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    postfix('start')
    await listening(port)
  } catch (error) {
    await stop()
    throw error
  }
  return { port, log: () => readFileSync(join(folder, 'mail.log'), 'utf8'), stop }
}

function submissionConfiguration(
  folder: string,
  { authPort, lmtpPort }: { authPort: number; lmtpPort: number },
): string {
  return `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/mail.log
maillog_file_prefixes = ${folder}
myhostname = mail.sender.test
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks =
mydestination =
alias_maps =
alias_database =
smtpd_tls_security_level = encrypt
smtpd_tls_chain_files = ${folder}/tls.pem
smtpd_tls_auth_only = yes
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${authPort}
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_recipient_restrictions = check_recipient_access inline:{refused@seeds.test=REJECT}, permit_sasl_authenticated, reject
transport_maps = inline:{lost@seeds.test=discard:}
default_transport = lmtp:inet:127.0.0.1:${lmtpPort}
lmtp_tls_security_level = none
`
}

function openDkimConfiguration(folder: string, domain: string, port: number): string {
  return `
Syslog no
Mode s
Domain ${domain}
Selector s1
KeyFile ${folder}/key.pem
Socket inet:${port}@127.0.0.1
Canonicalization relaxed/relaxed
OversignHeaders From
RequireSafeKeys no
`
}

function mainConfiguration(
  folder: string,
  { domain, relayPort, milterPort }: { domain: string; relayPort: number; milterPort: number },
): string {
  return `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/mail.log
maillog_file_prefixes = ${folder}
myhostname = mail.${domain}
mydomain = ${domain}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
mydestination =
alias_maps =
alias_database =
relayhost = [127.0.0.1]:${relayPort}
smtp_tls_security_level = may
smtpd_milters = inet:127.0.0.1:${milterPort}
milter_default_action = tempfail
smtpd_relay_restrictions = permit_mynetworks, reject
`
}

/** The services of Debian’s `master.cf` that a relay needs, none in a chroot. */
function servicesOf(port: number): string {
  const internal = {
    pickup: 'unix n - n 60 1 pickup',
    cleanup: 'unix n - n - 0 cleanup',
    qmgr: 'unix n - n 300 1 qmgr',
    tlsmgr: 'unix - - n 1000? 1 tlsmgr',
    rewrite: 'unix - - n - - trivial-rewrite',
    bounce: 'unix - - n - 0 bounce',
    defer: 'unix - - n - 0 bounce',
    trace: 'unix - - n - 0 bounce',
    verify: 'unix - - n - 1 verify',
    proxymap: 'unix - - n - - proxymap',
    smtp: 'unix - - n - - smtp',
    relay: 'unix - - n - - smtp',
    error: 'unix - - n - - error',
    retry: 'unix - - n - - error',
    discard: 'unix - - n - - discard',
    anvil: 'unix - - n - 1 anvil',
    scache: 'unix - - n - 1 scache',
    postlog: 'unix-dgram n - n - 1 postlogd',
  }
  const lines = Object.entries(internal).map(([name, line]) => `${name} ${line}`)
  return [`127.0.0.1:${port} inet n - n - - smtpd`, ...lines, ''].join('\n')
}

async function listening(port: number): Promise<void> {
  for (const until = Date.now() + 60_000; Date.now() < until;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error(`nothing listens on port ${port}`)
}
