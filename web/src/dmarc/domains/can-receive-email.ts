/**
 * Whether email can reach an address; `localhost` and bare IPs, as of an unconfigured Portreeve,
 * cannot.
 */
export function canReceiveEmail(address: string): boolean {
  return /@.+\.[a-z][a-z\d-]*$/i.test(address)
}
