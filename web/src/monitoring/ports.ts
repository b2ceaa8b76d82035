import { settings as messages } from './messages.ts'

const MAX_PORTS = 8

/** Parses ports separated by spaces, commas or semicolons. */
export function portsOf(text: string): number[] {
  const ports = text.split(/[\s,;]+/).filter((part) => part !== '')
  return [...new Set(ports.map(Number))]
}

/** Error messages by field; empty when the input is valid. */
export function wrongPorts(text: string): Record<string, string> {
  const ports = portsOf(text)
  if (!ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    return { tlsPorts: messages.wrongPorts }
  }
  return ports.length > MAX_PORTS ? { tlsPorts: messages.tooManyPorts(MAX_PORTS) } : {}
}
