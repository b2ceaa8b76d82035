import type { Config } from '../../config.ts'
import { bad, doubtful, good, type Finding } from '../../diagnostics/health/service-checks.ts'
import { requireUnused } from '../../net/acceptors.ts'
import { findPortHolder } from './port-holder.ts'

type Listener = { setting: string; address: string; port: number }

/** Checks every address that the roles of this instance listen on. */
export function checkPorts(config: Config): Promise<Finding[]> {
  return Promise.all(listenersOf(config).map((listener) => checkPort(listener, config)))
}

/** Whether the service of this installation serves HTTP now. */
export function isServing(config: Config): boolean {
  return findPortHolder(config.PORT, config)?.isOwnService === true
}

function listenersOf({ HOST, PORT, ROLES, SMTP_LISTEN, METRICS_LISTEN }: Config): Listener[] {
  return [
    ...(ROLES.includes('web') ? [{ setting: 'PORT', address: HOST, port: PORT }] : []),
    ...(ROLES.includes('smtp') && SMTP_LISTEN ? [{ setting: 'SMTP_LISTEN', ...SMTP_LISTEN }] : []),
    ...(METRICS_LISTEN ? [{ setting: 'METRICS_LISTEN', ...METRICS_LISTEN }] : []),
  ]
}

async function checkPort(listener: Listener, config: Config): Promise<Finding> {
  const { setting, address, port } = listener
  const about = `port ${port}`
  try {
    await requireUnused(address, port)
    return good(about, `Free on ${address}.`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') return usedPort(about, listener, config)
    if (code === 'EACCES')
      return bad(about, `Ports below 1024 need privileges. Set ${setting} to a higher port.`)
    const why = code === 'EADDRNOTAVAIL' ? 'is not an address of this machine' : `fails: ${code}`
    return bad(about, `${address} ${why}. Correct ${setting === 'PORT' ? 'HOST' : setting}.`)
  }
}

function usedPort(about: string, { setting, port }: Listener, config: Config): Finding {
  const holder = findPortHolder(port, config)
  const advice = `Stop it, or set ${setting} to another port.`
  if (holder === null) {
    const whose = 'In use by a program of another user: run this command as root to see which.'
    return doubtful(about, `${whose} If it is not Portreeve: ${advice}`)
  }
  const { isOwnService, name, pid } = holder
  if (isOwnService) return good(about, `In use by this service (process ${pid}).`)
  return bad(about, `In use by another program: ${name} (process ${pid}). ${advice}`)
}
