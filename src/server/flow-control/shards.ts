// Which queue a flow waits in: each flow is dealt a hand of queues and takes the shortest, so that a flow that fills its queues leaves
// most others a queue of their own. Mirrors the reference's shuffle sharding; the hash is another one.

function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

/** Different queues out of `count`, the same for the same flow. */
export function dealHand(flow: string, count: number, handSize: number): readonly number[] {
  // 53 bits are what a number holds exactly.
  let rest = hashText(flow, 0x811c9dc5) * 0x200000 + (hashText(flow, 0x9e3779b9) & 0x1fffff);
  const hand: number[] = [];
  for (let dealt = 0; dealt < handSize && dealt < count; dealt++) {
    const left = count - dealt;
    let card = rest % left;
    rest = Math.floor(rest / left);
    for (const taken of [...hand].sort((a, b) => a - b)) if (card >= taken) card += 1;
    hand.push(card);
  }
  return hand;
}
