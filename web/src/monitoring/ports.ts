const MOST = 8

/** The ports in what somebody typed: `443 25`, or with commas. */
export function portsOf(text: string): number[] {
  const ports = text.split(/[\s,;]+/).filter((part) => part !== '')
  return [...new Set(ports.map(Number))]
}

/** What is wrong with what was typed, by field. */
export function wrongPorts(text: string): Record<string, string> {
  const ports = portsOf(text)
  if (!ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    return { tlsPorts: 'Type numbers from 1 to 65535, with spaces between.' }
  }
  return ports.length > MOST ? { tlsPorts: `At most ${MOST} ports are watched.` } : {}
}
