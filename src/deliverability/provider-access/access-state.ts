/** Whether statistics come, do not come now, or come no more until a person acts. */
export function accessStateOf({
  problem,
  isEnded,
}: {
  problem: string | null
  isEnded: boolean
}): 'active' | 'failing' | 'ended' {
  if (isEnded) return 'ended'
  return problem === null ? 'active' : 'failing'
}
