/** Something known about a sender besides its mail, which no checker of a mail sees. */
export type BackgroundFact = {
  id: 'domain-age' | 'address-age' | 'neighbors' | 'dmarc-failures'
  title: string
  /** `notice` may explain mail in spam although every check passes. */
  state: 'good' | 'notice' | 'unknown'
  sentence: string
}
