// Texts about relays.

/** The alert that a service does not accept the credentials of a workspace. */
export function stoppedAlert(name: string, reason: string) {
  return {
    title: `Reports are no longer relayed to ${name}`,
    text: reason,
    nextStep: 'Enter the key again on the page of relays. Waiting reports are sent then.',
  }
}
