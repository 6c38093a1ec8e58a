"""The shape of a model and of a machine: what memory and speed are worked out from.

Bytes, tokens and FLOPs follow from a model's published configuration; each formula names its source.
"""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A transformer's configuration, as its config.json gives it, and how its weights are stored."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int  # 0: an encoder, which keeps no cache
    head_dim: int
    intermediate: int
    gated: bool  # three matrices in the feed-forward part (SwiGLU), or two
    vocabulary: int
    tied: bool  # input and output embeddings are one matrix; an encoder has only one
    bits: float  # of a weight of the layers: 16, 8 or 4
    group: int  # weights that share a 16-bit scale and a zero point; 0: none

    @property
    def layer_parameters(self) -> int:
        """Return the weights of all layers' matrices: attention (q, k, v, o) and feed-forward."""
        kv = self.kv_heads or self.heads
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * kv)
        forward = (3 if self.gated else 2) * self.hidden * self.intermediate
        return self.layers * (attention + forward)

    @property
    def embedding_parameters(self) -> int:
        """Return the weights of the embeddings and, where it is apart, of the output layer."""
        return self.vocabulary * self.hidden * (1 if self.tied else 2)

    @property
    def parameters(self) -> int:
        """Return all weights but the norms, which are a few thousandths of them."""
        return self.layer_parameters + self.embedding_parameters

    @property
    def weight_bytes(self) -> int:
        """Return the bytes of the weights.

        AWQ and its kin leave the embeddings in 16 bits and store for each group a 16-bit scale and a
        zero point of the weights' own width (Lin et al., arXiv 2306.00978).
        """
        a_weight = self.bits / 8
        if self.group:
            a_weight += (2 + self.bits / 8) / self.group
        return round(self.layer_parameters * a_weight) + 2 * self.embedding_parameters

    def kv_bytes(self, *, a_number: int = 2) -> int:
        """Return the cache of one token: keys and values of every layer, `a_number` bytes each.

        2 x layers x KV heads x head dimension x bytes (Kwon et al., arXiv 2309.06180, section 2).
        """
        return 2 * self.layers * self.kv_heads * self.head_dim * a_number

    def activation_bytes(self, tokens: int, sequences: int) -> int:
        """Return the most that a step of so many tokens holds beside weights and cache, in 16 bits.

        The widest moment of a layer: its input and residual, and the feed-forward part before and after
        its gate; then the logits of each sequence, in 32 bits beside their 16-bit form (what vLLM's
        profiling run measures: a step of max_num_batched_tokens, and a sampler of max_num_seqs).
        """
        wide = (3 if self.gated else 1) * self.intermediate
        logits = sequences * self.vocabulary * 6 if self.kv_heads else 0
        return tokens * (4 * self.hidden + wide) * 2 + logits

    def flops(self, context: int = 0) -> float:
        """Return the operations of one token: two a weight, and attention over the context before it.

        Kaplan et al., arXiv 2001.08361, section 2.1; the embeddings' look-up costs none.
        """
        output = self.vocabulary * self.hidden if self.kv_heads else 0
        attention = 4 * self.layers * self.heads * self.head_dim * context
        return 2.0 * (self.layer_parameters + output) + attention


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """A machine as far as a model cares."""

    memory_mib: int  # that the driver reports, or that a model may take
    unified: bool  # the models' memory is the computer's own
    reserve_mib: int  # for a desktop, or the system
    bandwidth_gb_s: float  # of that memory, decimal gigabytes a second
    tflops: float  # of dense 16-bit products
    fp8_cache: bool  # the card computes with 8-bit floats
    source: str  # who says so

    @property
    def memory_bytes(self) -> int:
        """Return the memory in bytes."""
        return self.memory_mib << 20
